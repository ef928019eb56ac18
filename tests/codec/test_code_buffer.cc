// SPDX-License-Identifier: MIT
// CodeBuffer: rows appended in pieces are the bytes of one encode, and errors change nothing.
#include <limits>
#include <vector>

#include "src/codec/code_buffer.h"
#include "src/core/random.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 40;

std::vector<float> normal_rows(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(n) * kDim);
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

std::vector<uint8_t> bytes_of(const Codec& codec, const CodeBuffer& buffer) {
  const size_t size = codec.layout().bytes(buffer.size());
  return {buffer.rows().data, buffer.rows().data + size};
}

Codec trained_codec(const char* spec, Metric metric = Metric::l2) {
  return Codec(parse_spec(spec), kDim, metric, CodecOptions{});
}

TEST_CASE("CodeLayout counts full groups and the rows of the last one", "[codec]") {
  const CodeLayout rows{1, 20, 0};
  CHECK(rows.bytes(0) == 0);
  CHECK(rows.bytes(7) == 140);
  const CodeLayout groups{128, 1000, 160};
  CHECK(groups.bytes(0) == 0);
  CHECK(groups.bytes(127) == 127 * 160);
  CHECK(groups.bytes(128) == 1000);
  CHECK(groups.bytes(300) == 2 * 1000 + 44 * 160);
  require_error(StatusCode::bad_argument, "n: -1", [&] { (void)groups.bytes(-1); });
  require_error(StatusCode::bad_argument, "bytes of n rows",
                [&] { (void)rows.bytes(std::numeric_limits<int64_t>::max()); });
}

TEST_CASE("Rows appended in pieces are the bytes of one encode", "[codec]") {
  const char* spec =
      GENERATE("Polar1.5", "Polar4", "Polar8", "Polar2+2", "PolarScalar3", "PolarTree4.2.2.2",
               "PolarPair4x4", "PolarPair4x4g128", "PolarPair4x2g128", "PolarPair4x4g128-dense");
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2, Metric::cosine);
  INFO(spec);
  Codec codec = trained_codec(spec, metric);
  const std::vector<float> x = normal_rows(700, 1);
  codec.train(700, x.data());
  std::vector<uint8_t> whole(codec.layout().bytes(700));
  codec.encode(700, x.data(), whole.data(), 0);
  const std::vector<std::vector<int64_t>> splits = {
      {700},           {1, 1, 126, 572}, {127, 1, 128, 129, 315},
      {300, 100, 300}, {0, 699, 0, 1},   {60, 60, 60, 520}};
  for (const std::vector<int64_t>& split : splits) {
    CodeBuffer buffer;
    int64_t first = 0;
    for (const int64_t n : split) {
      buffer.append(codec, n, x.data() + first * kDim, 2);
      first += n;
      CHECK(buffer.size() == first);
    }
    CHECK(bytes_of(codec, buffer) == whole);
  }
}

TEST_CASE("A failed append leaves the buffer as it was", "[codec]") {
  const char* spec = GENERATE("Polar4", "PolarPair4x4g128");
  Codec codec = trained_codec(spec);
  std::vector<float> x = normal_rows(600, 2);
  codec.train(600, x.data());
  CodeBuffer buffer;
  buffer.append(codec, 200, x.data(), 0);
  const std::vector<uint8_t> before = bytes_of(codec, buffer);
  for (const size_t bad_row : {size_t{0}, size_t{60}, size_t{399}}) {
    std::vector<float> bad(x.begin() + 200 * kDim, x.end());
    bad[bad_row * kDim + 3] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(buffer.append(codec, 400, bad.data(), 0), Error);
    CHECK(buffer.size() == 200);
    CHECK(bytes_of(codec, buffer) == before);
  }
  CHECK_THROWS_AS(buffer.append(codec, -1, x.data(), 0), Error);
  buffer.append(codec, 400, x.data() + 200 * kDim, 0);
  std::vector<uint8_t> whole(codec.layout().bytes(600));
  codec.encode(600, x.data(), whole.data(), 0);
  CHECK(bytes_of(codec, buffer) == whole);
}

TEST_CASE("A mark takes appended rows back", "[codec]") {
  const char* spec = GENERATE("Polar4", "PolarPair4x4g128");
  Codec codec = trained_codec(spec);
  const std::vector<float> x = normal_rows(600, 3);
  codec.train(600, x.data());
  for (const int64_t rows_before : {0, 5, 128, 250}) {
    for (const int64_t added : {0, 1, 6, 130, 350}) {
      CodeBuffer buffer;
      buffer.append(codec, rows_before, x.data(), 0);
      const std::vector<uint8_t> bytes_before = bytes_of(codec, buffer);
      const CodeBuffer::Mark mark = buffer.mark(codec);
      buffer.append(codec, added, x.data() + rows_before * kDim, 0);
      buffer.go_back_to(codec, mark.rows, mark.tail);
      CHECK(buffer.size() == rows_before);
      CHECK(bytes_of(codec, buffer) == bytes_before);
    }
  }
}

TEST_CASE("A CodeBuffer grows by an eighth", "[codec]") {
  Codec codec = trained_codec("Polar2");
  const std::vector<float> x = normal_rows(2000, 4);
  CodeBuffer buffer;
  for (int64_t i = 0; i < 2000; ++i) {
    buffer.append(codec, 1, x.data() + i * kDim, 1);
    const size_t needed = codec.layout().bytes(buffer.size());
    REQUIRE(buffer.memory_bytes() >= needed);
    REQUIRE(buffer.memory_bytes() <= needed + needed / 8);
  }
  buffer.clear();
  CHECK(buffer.size() == 0);
  CHECK(buffer.memory_bytes() == 0);
}

}  // namespace
}  // namespace polarquant::test
