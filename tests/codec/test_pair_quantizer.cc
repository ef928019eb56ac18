// SPDX-License-Identifier: MIT
// PolarPair against the paper's formulas in double, and against hostile tables.
#include "src/codec/published/pair_quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/codec/bit_packing.h"
#include "src/core/checksum.h"
#include "src/core/portable_math.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

PairQuantizer trained(int dim, int angle_bits, int radius_bits, const std::vector<float>& rows) {
  PairQuantizer quantizer(dim, angle_bits, radius_bits);
  quantizer.train(static_cast<int64_t>(rows.size()) / dim, rows.data(), 1);
  return quantizer;
}

struct Point {
  double x;
  double y;
};

/// §3.2 with the paper's θ = atan2 + π, decoded with the π taken off again.
Point reference_pair(Point point, double step, int angle_bits, int radius_bits) {
  const double scale = std::ldexp(1.0, angle_bits - 1);
  const double theta = std::atan2(point.y, point.x) + kPi;
  const double angle = std::fmod(std::floor(scale * theta / kPi + 0.5), 2 * scale);
  const double top = std::ldexp(1.0, radius_bits) - 1;
  const double radius =
      step > 0 ? std::min(std::floor(std::hypot(point.x, point.y) / step + 0.5), top) : 0;
  const double decoded = kPi * angle / scale - kPi;
  return {radius * step * std::cos(decoded), radius * step * std::sin(decoded)};
}

void load(PairQuantizer& quantizer, const std::vector<uint8_t>& bytes) {
  ByteReader in(bytes.data(), bytes.size(), "codec state");
  quantizer.load_tables(in);
  in.expect_end();
}

}  // namespace

TEST_CASE("PolarPair is the paper's formulas, at any dimension and width", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100, 129}) {
    for (const auto& [angle_bits, radius_bits] :
         std::vector<std::pair<int, int>>{{1, 1}, {4, 4}, {4, 2}, {3, 2}, {8, 8}, {5, 1}, {1, 7}}) {
      const std::vector<float> rows = gaussian_rows(50, dim, 1);
      const PairQuantizer quantizer = trained(dim, angle_bits, radius_bits, rows);
      CHECK(quantizer.code_bytes() ==
            static_cast<size_t>(((dim + 1) / 2 * (angle_bits + radius_bits) + 7) / 8));
      // Other rows than trained on: some lie beyond the largest radius.
      const std::vector<float> fresh = gaussian_rows(50, dim, 2);
      const std::vector<float> decoded = round_trip(quantizer, fresh, dim);
      for (size_t row = 0; row < 50; ++row) {
        for (size_t pair = 0; pair < quantizer.radius_steps().size(); ++pair) {
          const size_t at = row * static_cast<size_t>(dim) + 2 * pair;
          const bool has_second = 2 * pair + 1 < static_cast<size_t>(dim);
          const Point point = {static_cast<double>(fresh[at]),
                               has_second ? static_cast<double>(fresh[at + 1]) : 0.0};
          const Point expected = reference_pair(
              point, static_cast<double>(quantizer.radius_steps()[pair]), angle_bits, radius_bits);
          INFO("dim " << dim << ", " << angle_bits << 'x' << radius_bits << ", pair " << pair);
          REQUIRE(std::fabs(static_cast<double>(decoded[at]) - expected.x) < 1e-5);
          if (!has_second) continue;
          REQUIRE(std::fabs(static_cast<double>(decoded[at + 1]) - expected.y) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("PolarPair: the scale is the largest radius of each pair of channels", "[codec]") {
  const std::vector<float> rows = {3, 4, 0, 0, 1, /**/ 0, 1, 0, 0, -2};
  const PairQuantizer quantizer = trained(5, 4, 4, rows);
  REQUIRE(quantizer.radius_steps().size() == 3);
  CHECK(quantizer.radius_steps()[0] == 5.0F / 15);
  CHECK(quantizer.radius_steps()[1] == 0);
  CHECK(quantizer.radius_steps()[2] == 2.0F / 15);
  // The largest itself decodes to full length; a channel of zeros stays zero whatever comes.
  const std::vector<float> decoded = round_trip(quantizer, {5, 0, 1e20F, -1e20F, -1e30F}, 5);
  CHECK(std::fabs(decoded[0] - 5) < 1e-6F);
  CHECK(decoded[1] == 0);
  CHECK(decoded[2] == 0);
  CHECK(decoded[3] == 0);
  CHECK(std::fabs(decoded[4] + 2) < 1e-6F);
}

TEST_CASE("PolarPair's error on the unit Gaussian is what its grid allows", "[codec]") {
  const std::vector<float> rows = gaussian_rows(1000, 256, 3);
  for (const auto& [angle_bits, radius_bits] :
       std::vector<std::pair<int, int>>{{4, 4}, {5, 5}, {4, 2}, {3, 2}, {8, 8}}) {
    const PairQuantizer quantizer = trained(256, angle_bits, radius_bits, rows);
    const double error = mean_squared_error(rows, round_trip(quantizer, rows, 256));
    // Half of E|p−p̂|² = E[(r−r̂)²] + 2·E[r·r̂]·E[1−cos Δ], Δ uniform in ±π/2^m, r−r̂ in ±s/2.
    const double widest = kPi / (1 << angle_bits);
    double step_square = 0;
    for (const float step : quantizer.radius_steps()) {
      step_square += static_cast<double>(step) * static_cast<double>(step) / 128;
    }
    const double expected = step_square / 24 + 2 * (1 - std::sin(widest) / widest);
    INFO(angle_bits << 'x' << radius_bits << ": " << error << ", expected " << expected);
    // At two bits a radius cell is wide against the density of r, and the mean over it is rough.
    CHECK(std::fabs(error / expected - 1) < (radius_bits == 2 ? 0.08 : 0.01));
  }
}

TEST_CASE("PolarPair: angles round to the nearest, halves up, zero to index 0", "[codec]") {
  const std::vector<float> scale = {4, 0};
  const PairQuantizer quantizer = trained(2, 2, 2, scale);  // radii 0, 4/3, 8/3, 4
  const auto code_of = [&](float x, float y) { return encode_rows(quantizer, {x, y}, 2)[0]; };
  CHECK(code_of(4, 0) == (0 | 3 << 2));
  CHECK(code_of(4, -0.0F) == (0 | 3 << 2));
  CHECK(code_of(0, 4) == (1 | 3 << 2));
  CHECK(code_of(-4, 0) == (2 | 3 << 2));
  CHECK(code_of(-4, -0.0F) == (2 | 3 << 2));
  CHECK(code_of(0, -4) == (3 | 3 << 2));
  // Diagonals lie half-way and go counter-clockwise.
  CHECK(code_of(2, 2) == (1 | 2 << 2));
  CHECK(code_of(-2, 2) == (2 | 2 << 2));
  CHECK(code_of(-2, -2) == (3 | 2 << 2));
  CHECK(code_of(2, -2) == (0 | 2 << 2));
  CHECK(code_of(2, 1.99F) == (0 | 2 << 2));
  CHECK(code_of(2, -2.01F) == (3 | 2 << 2));
  CHECK(code_of(0, 0) == 0);
  CHECK(code_of(-0.0F, -0.0F) == 0);
  const std::vector<float> decoded = round_trip(quantizer, {0, -4}, 2);
  CHECK(decoded[0] == 0);
  CHECK(decoded[1] == -4);
}

TEST_CASE("PolarPair's score tables give the score of the decoded vector", "[codec]") {
  const int dim = 65;
  const std::vector<float> rows = gaussian_rows(100, dim, 5);
  const PairQuantizer quantizer = trained(dim, 4, 4, rows);
  const std::vector<float> query = gaussian_rows(1, dim, 6);
  const std::vector<uint8_t> codes = encode_rows(quantizer, rows, dim);
  const std::vector<float> decoded = decode_rows(quantizer, codes, dim);
  for (size_t row = 0; row < 100; ++row) {
    double expected = 0;
    for (size_t i = 0; i < 65; ++i) {
      expected += static_cast<double>(query[i]) * static_cast<double>(decoded[row * 65 + i]);
    }
    double score = 0;
    for (size_t pair = 0; pair < 33; ++pair) {
      const uint8_t field = codes[row * quantizer.code_bytes() + pair];
      const size_t angle = field & 15U;
      const float second = pair < 32 ? query[2 * pair + 1] : 0.0F;
      const float along = query[2 * pair] * quantizer.angle_cosines()[angle] +
                          second * quantizer.angle_sines()[angle];
      score += static_cast<double>(static_cast<float>(field >> 4) * quantizer.radius_steps()[pair] *
                                   along);
    }
    REQUIRE(std::fabs(score - expected) < 1e-4);
  }
}

TEST_CASE("PolarPair: padding bits are 0", "[codec]") {
  const std::vector<float> rows = gaussian_rows(20, 6, 7);
  const PairQuantizer quantizer = trained(6, 4, 3, rows);  // 21 bits in 3 bytes
  const std::vector<uint8_t> codes = encode_rows(quantizer, rows, 6);
  for (size_t row = 0; row < 20; ++row) REQUIRE((codes[row * 3 + 2] & 0xe0U) == 0);
}

TEST_CASE("PolarPair must be trained, and says so", "[codec]") {
  PairQuantizer quantizer(4, 4, 4);
  CHECK(quantizer.needs_training());
  CHECK_FALSE(quantizer.is_trained());
  std::vector<float> row(4, 1.0F);
  std::vector<uint8_t> code(quantizer.code_bytes());
  require_error(StatusCode::not_trained, "train()",
                [&] { quantizer.encode(row.data(), code.data()); });
  require_error(StatusCode::not_trained, "train()",
                [&] { quantizer.decode(code.data(), 0, row.data()); });
  row[3] = 3e38F;
  require_error(StatusCode::bad_argument, "pair 1", [&] { quantizer.train(1, row.data(), 1); });
  CHECK_FALSE(quantizer.is_trained());
  row.assign(4, 0.0F);
  quantizer.train(1, row.data(), 1);
  CHECK(quantizer.is_trained());
  CHECK(round_trip(quantizer, {1, 2, 3, 4}, 4) == std::vector<float>(4, 0.0F));
}

TEST_CASE("PolarPair: saved tables give the same bytes; bad ones are refused whole", "[codec]") {
  const std::vector<float> rows = gaussian_rows(60, 7, 8);
  const PairQuantizer quantizer = trained(7, 4, 4, rows);
  ByteWriter out;
  quantizer.save_tables(out);
  PairQuantizer loaded(7, 4, 4);
  load(loaded, out.bytes());
  CHECK(encode_rows(loaded, rows, 7) == encode_rows(quantizer, rows, 7));

  ByteWriter untrained;
  PairQuantizer(7, 4, 4).save_tables(untrained);
  PairQuantizer empty(7, 4, 4);
  load(empty, untrained.bytes());
  CHECK_FALSE(empty.is_trained());

  for (size_t length = 0; length < out.bytes().size(); ++length) {
    const std::vector<uint8_t> prefix(out.bytes().begin(),
                                      out.bytes().begin() + static_cast<std::ptrdiff_t>(length));
    require_error(StatusCode::corrupt_data, "codec state", [&] { load(empty, prefix); });
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {-1.0F, infinity, -infinity, std::nanf(""), 3e38F}) {
    ByteWriter hostile;
    hostile.put_array(std::vector<float>{1, 1, bad, 1});
    require_error(StatusCode::corrupt_data, "radius step", [&] { load(empty, hostile.bytes()); });
    CHECK_FALSE(empty.is_trained());
  }
  ByteWriter few;
  few.put_array(std::vector<float>{1, 1, 1});
  require_error(StatusCode::corrupt_data, "3 radius steps", [&] { load(empty, few.bytes()); });
  ByteWriter many;
  many.put_array(std::vector<float>(5, 1.0F));
  require_error(StatusCode::corrupt_data, "at most 4", [&] { load(empty, many.bytes()); });
}

TEST_CASE("PolarPair refuses other bit widths by name", "[codec]") {
  for (const int bits : {-1, 0, 9}) {
    require_error(StatusCode::bad_argument, "angle bits; 1 to 8",
                  [&] { PairQuantizer(8, bits, 4); });
    require_error(StatusCode::bad_argument, "radius bits; 1 to 8",
                  [&] { PairQuantizer(8, 4, bits); });
  }
}

TEST_CASE("PolarPair: the bytes are pinned", "[codec]") {
  const std::vector<float> rows = gaussian_rows(20, 129, 9);
  const std::vector<uint8_t> codes = encode_rows(trained(129, 5, 3, rows), rows, 129);
  CHECK(checksum64(codes.data(), codes.size()) == 0x1cace7c3b32558d6ULL);
}
