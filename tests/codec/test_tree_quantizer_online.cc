// SPDX-License-Identifier: MIT
// PolarTree with angles that are learned: what they gain, their tables, and the bytes of both
// kinds.
#include "src/codec/published/tree_quantizer.h"

#include <cmath>
#include <limits>

#include "src/core/checksum.h"
#include "src/core/format.h"
#include "src/core/portable_math.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

std::vector<float> skewed_rows(int64_t n, int dim, uint64_t seed) {
  std::vector<float> rows = gaussian_rows(n, dim, seed);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = i % 2 == 0 ? 3 + rows[i] / 4 : rows[i] / 2;
  }
  return rows;
}

TreeQuantizer trained(int dim, const std::vector<int>& bits, const std::vector<float>& rows) {
  TreeQuantizer quantizer(dim, bits, true);
  quantizer.train(static_cast<int64_t>(rows.size()) / dim, rows.data(), 7);
  return quantizer;
}

std::vector<uint8_t> saved(const TreeQuantizer& quantizer) {
  ByteWriter out;
  quantizer.save_tables(out);
  return out.bytes();
}

void load(TreeQuantizer& quantizer, const std::vector<uint8_t>& bytes) {
  ByteReader in(bytes.data(), bytes.size(), "codec state");
  quantizer.load_tables(in);
  in.expect_end();
}

}  // namespace

TEST_CASE("online PolarTree learns the angles of its rows", "[codec]") {
  const std::vector<int> bits = {4, 2, 2, 2};
  const TreeQuantizer offline(64, bits, false);
  const std::vector<float> rows = gaussian_rows(400, 64, 5);
  const double offline_error = mean_squared_error(rows, round_trip(offline, rows, 64));
  const TreeQuantizer online = trained(64, bits, rows);
  CHECK(online.needs_training());
  CHECK(online.is_trained());
  CHECK(mean_squared_error(rows, round_trip(online, rows, 64)) < 1.03 * offline_error);
  // More angles than training looks at.
  const std::vector<float> many = gaussian_rows(5000, 64, 15);
  CHECK(mean_squared_error(rows, round_trip(trained(64, bits, many), rows, 64)) <
        1.02 * offline_error);

  const std::vector<float> skewed = skewed_rows(400, 64, 6);
  const std::vector<float> fresh = skewed_rows(200, 64, 16);
  const double before = mean_squared_error(fresh, round_trip(offline, fresh, 64));
  const double after = mean_squared_error(fresh, round_trip(trained(64, bits, skewed), fresh, 64));
  INFO(before << " offline, " << after << " online");
  CHECK(after < before / 2);
  // The same rows and seed, the same centroids.
  CHECK(saved(trained(64, bits, skewed)) == saved(trained(64, bits, skewed)));
}

TEST_CASE("online PolarTree works from one row, from zeros, at odd sizes", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100, 129}) {
    const std::vector<int> bits = dim < 3 ? std::vector<int>{8} : std::vector<int>{8, 5};
    const std::vector<float> row = gaussian_rows(1, dim, 7);
    const TreeQuantizer quantizer = trained(dim, bits, row);
    // More centroids than angles: each angle is its own centroid.
    if (dim <= 100) CHECK(mean_squared_error(row, round_trip(quantizer, row, dim)) < 1e-5);
    const std::vector<float> other = gaussian_rows(10, dim, 8);
    for (const float value : round_trip(quantizer, other, dim)) REQUIRE(std::isfinite(value));
  }
  const TreeQuantizer from_zeros = trained(16, {4, 2}, std::vector<float>(160, 0.0F));
  const TreeQuantizer offline(16, {4, 2}, false);
  const std::vector<float> rows = gaussian_rows(10, 16, 9);
  CHECK(encode_rows(from_zeros, rows, 16) == encode_rows(offline, rows, 16));
}

TEST_CASE("online PolarTree must be trained, and says so", "[codec]") {
  const TreeQuantizer quantizer(8, {4, 2}, true);
  CHECK_FALSE(quantizer.is_trained());
  std::vector<float> row(8, 1.0F);
  std::vector<uint8_t> code(quantizer.code_bytes());
  require_error(StatusCode::not_trained, "train()",
                [&] { quantizer.encode(row.data(), code.data()); });
  require_error(StatusCode::not_trained, "train()",
                [&] { quantizer.decode(code.data(), 0, row.data()); });
  CHECK_FALSE(TreeQuantizer(8, {4, 2}, false).needs_training());
}

TEST_CASE("online PolarTree: saved tables give the same bytes; bad ones are refused", "[codec]") {
  const std::vector<float> rows = skewed_rows(50, 9, 10);
  const TreeQuantizer quantizer = trained(9, {3, 2}, rows);
  const std::vector<uint8_t> bytes = saved(quantizer);
  TreeQuantizer loaded(9, {3, 2}, true);
  load(loaded, bytes);
  CHECK(encode_rows(loaded, rows, 9) == encode_rows(quantizer, rows, 9));
  CHECK(saved(loaded) == bytes);

  TreeQuantizer empty(9, {3, 2}, true);
  load(empty, saved(empty));
  CHECK_FALSE(empty.is_trained());
  CHECK(saved(TreeQuantizer(9, {3, 2}, false)).empty());

  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<uint8_t> prefix(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(length));
    require_error(StatusCode::corrupt_data, "codec state", [&] { load(empty, prefix); });
    REQUIRE_FALSE(empty.is_trained());
  }
  const auto with = [](int level, size_t index, double value) {
    ByteWriter out;
    out.put<uint8_t>(1);
    std::vector<double> first = {0, 1, 2, 3, 4, 5, 6, 6.25};
    std::vector<double> second = {0, 0.5, 1, 1.5};
    (level == 1 ? first : second)[index] = value;
    out.put_array(first);
    out.put_array(second);
    return out.bytes();
  };
  load(empty, with(1, 0, 0));
  CHECK(empty.is_trained());
  load(empty, with(2, 3, kPi / 2));
  load(empty, with(2, 2, 1.5));  // equal neighbours are what few distinct angles give
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<uint8_t> kept = saved(empty);
  for (const double bad : {std::nan(""), infinity, -infinity, -1e-9, 6.3}) {
    for (const int level : {1, 2}) {
      require_error(StatusCode::corrupt_data, format_text("of level {}", level),
                    [&] { load(empty, with(level, 3, bad)); });
    }
  }
  require_error(StatusCode::corrupt_data, "below", [&] { load(empty, with(1, 4, 2.5)); });
  require_error(StatusCode::corrupt_data, "below", [&] { load(empty, with(2, 1, 1.2)); });
  require_error(StatusCode::corrupt_data, "of level 2", [&] { load(empty, with(2, 3, 1.6)); });
  CHECK(saved(empty) == kept);

  std::vector<uint8_t> flagged = bytes;
  flagged[0] = 2;
  require_error(StatusCode::corrupt_data, "flag", [&] { load(empty, flagged); });
  TreeQuantizer wider(9, {4, 2}, true);
  require_error(StatusCode::corrupt_data, "8 centroids", [&] { load(wider, bytes); });
  TreeQuantizer narrower(9, {2, 2}, true);
  require_error(StatusCode::corrupt_data, "at most 4", [&] { load(narrower, bytes); });
}

TEST_CASE("PolarTree: the bytes are pinned, learned tables too", "[codec]") {
  const std::vector<float> rows = gaussian_rows(20, 129, 11);
  struct Pinned {
    ShortFloat form;
    uint64_t analytic;
    uint64_t learned;
  };
  for (const Pinned& pinned :
       {Pinned{ShortFloat::float16, 0x8a466fd152c3b7bbULL, 0x12abae173851534cULL},
        Pinned{ShortFloat::wide16, 0xe9c8bd4f382d8353ULL, 0x34af2a23f94b12daULL}}) {
    const auto checksum = [&](TreeQuantizer quantizer) {
      quantizer.set_short_float(pinned.form);
      const std::vector<uint8_t> codes = encode_rows(quantizer, rows, 129);
      return checksum64(codes.data(), codes.size());
    };
    CHECK(checksum(TreeQuantizer(129, {4, 3, 2, 1}, false)) == pinned.analytic);
    CHECK(checksum(trained(129, {4, 3, 2, 1}, rows)) == pinned.learned);
  }
}
