// SPDX-License-Identifier: MIT
#include "src/core/byte_stream.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::require_error;

namespace {

ByteReader reader_of(const std::vector<uint8_t>& bytes) {
  return ByteReader(bytes.data(), bytes.size(), "codec state");
}

std::vector<uint8_t> sample() {
  ByteWriter out;
  out.put<uint32_t>(0x04030201);
  out.put<int64_t>(-2);
  out.put<double>(-0.5);
  out.put_string("Polar2");
  out.put_array(std::vector<float>{1.5F, -2.0F});
  out.put_array(std::vector<uint16_t>{});
  return out.bytes();
}

void read_all(ByteReader& in) {
  in.get<uint32_t>("magic");
  in.get<int64_t>("rows");
  in.get<double>("unit");
  in.get_string("spec", 100);
  in.get_array<float>("centre", 100);
  in.get_array<uint16_t>("table", 100);
  in.expect_end();
}

}  // namespace

TEST_CASE("fields come back as they were written, in little-endian order", "[core]") {
  const std::vector<uint8_t> bytes = sample();
  REQUIRE(bytes.size() == 4 + 8 + 8 + (4 + 6) + (8 + 8) + 8);
  CHECK(bytes[0] == 1);
  CHECK(bytes[3] == 4);
  CHECK(bytes[20] == 6);  // the string's length, 32 bits
  CHECK(bytes[24] == 'P');
  CHECK(bytes[30] == 2);  // the array's length, 64 bits

  ByteReader in = reader_of(bytes);
  CHECK(in.get<uint32_t>("magic") == 0x04030201);
  CHECK(in.get<int64_t>("rows") == -2);
  CHECK(in.get<double>("unit") == -0.5);
  CHECK(in.get_string("spec", 6) == "Polar2");
  CHECK(in.get_array<float>("centre", 2) == std::vector<float>{1.5F, -2.0F});
  CHECK(in.get_array<uint16_t>("table", 0).empty());
  in.expect_end();
}

TEST_CASE("every truncation and every byte too many is refused", "[core]") {
  const std::vector<uint8_t> bytes = sample();
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A copy of that length, so that an address sanitizer sees a read past it.
    const std::vector<uint8_t> prefix(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(length));
    require_error(StatusCode::corrupt_data, "codec state", [&] {
      ByteReader in = reader_of(prefix);
      read_all(in);
    });
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  require_error(StatusCode::corrupt_data, "1 bytes follow", [&] {
    ByteReader in = reader_of(longer);
    read_all(in);
  });
}

TEST_CASE("an error names the source, the field and what is left", "[core]") {
  const std::vector<uint8_t> bytes{1, 2, 3};
  ByteReader in = reader_of(bytes);
  in.get<uint8_t>("kind");
  require_error(StatusCode::corrupt_data,
                "codec state: truncated at seed: 8 bytes needed at offset 1, 2 left",
                [&] { in.get<uint64_t>("seed"); });
  // A failed read takes nothing.
  CHECK(in.get<uint16_t>("rest") == 0x0302);
}

TEST_CASE("hostile lengths are refused before anything is allocated", "[core]") {
  for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 32, uint64_t{1} << 62,
                               (uint64_t{1} << 62) + 1, std::numeric_limits<uint64_t>::max()}) {
    ByteWriter out;
    out.put<uint64_t>(count);
    out.put<double>(1);
    out.put<double>(2);
    // Even a caller that allows any count is kept to the bytes that are there; count·8 may wrap.
    ByteReader in = reader_of(out.bytes());
    require_error(StatusCode::corrupt_data, "centre",
                  [&] { in.get_array<double>("centre", std::numeric_limits<uint64_t>::max()); });
  }
  ByteWriter out;
  out.put_array(std::vector<uint8_t>(10));
  ByteReader in = reader_of(out.bytes());
  require_error(StatusCode::corrupt_data, "at most 9", [&] { in.get_array<uint8_t>("centre", 9); });

  ByteWriter text;
  text.put<uint32_t>(0xffffffffU);
  text.put<uint32_t>(0);
  ByteReader short_limit = reader_of(text.bytes());
  require_error(StatusCode::corrupt_data, "at most 64",
                [&] { short_limit.get_string("spec", 64); });
  ByteReader no_limit = reader_of(text.bytes());
  require_error(StatusCode::corrupt_data, "truncated at spec",
                [&] { no_limit.get_string("spec", 0xffffffffU); });
}

TEST_CASE("an empty source has only its end", "[core]") {
  ByteReader in(nullptr, 0, "codec state");
  in.expect_end();
  require_error(StatusCode::corrupt_data, "truncated", [&] { in.get<uint8_t>("kind"); });
}
