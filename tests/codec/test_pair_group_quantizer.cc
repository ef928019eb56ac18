// SPDX-License-Identifier: MIT
// PolarPair…g128 against its source's formulas in double, groups of degenerate values, hostile
// bytes.
#include "src/codec/published/pair_group_quantizer.h"

#include <algorithm>
#include <cmath>

#include "src/codec/bit_packing.h"
#include "src/core/checksum.h"
#include "src/core/portable_math.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

struct Cells {
  double minimum;
  double step;
  int count;

  double middle(int cell) const { return minimum + (cell + 0.5) * step; }
  int nearest(double value) const {
    int best = 0;
    for (int cell = 1; cell < count; ++cell) {
      if (std::fabs(value - middle(cell)) < std::fabs(value - middle(best))) best = cell;
    }
    return best;
  }
};

Cells cells_of(const std::vector<double>& values, int bits, ShortFloat form) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {as_stored(*least, form), as_stored((*most - *least) / (1 << bits), form), 1 << bits};
}

double angle_of(double y, double x) {
  const double angle = std::atan2(y, x);
  return angle < 0 ? angle + 2 * kPi : angle;
}

}  // namespace

TEST_CASE("portable_atan2 is libm's within 1e-15, and has no −0", "[core]") {
  Random random(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double spread = std::ldexp(1.0, static_cast<int>(random.below(80)) - 40);
    const double x = random.normal();
    const double y = random.normal() * spread;
    const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>((portable_atan2(y, x) - want) / want)));
  }
  CHECK(worst < 1e-15);
  CHECK(portable_atan2(0, 0) == 0);
  CHECK(portable_atan2(-0.0, -0.0) == 0);
  CHECK(portable_atan2(0, 3) == 0);
  CHECK(portable_atan2(2, 0) == kPi / 2);
  CHECK(portable_atan2(-2, 0) == -kPi / 2);
  CHECK(portable_atan2(0, -1) == kPi);
  CHECK(portable_atan2(-0.0, -1) == kPi);
  CHECK(portable_atan2(5, 5) == kPi / 4);
  CHECK(portable_atan2(1e308, 1e-308) == kPi / 2);
}

TEST_CASE("PolarPair g128 is its source's formulas, each index the nearest value", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100, 129}) {
    for (const auto& [angle_bits, radius_bits] :
         std::vector<std::pair<int, int>>{{1, 1}, {4, 4}, {3, 2}, {8, 8}}) {
      const PairGroupQuantizer quantizer(dim, angle_bits, radius_bits);
      const int pairs = (dim + 1) / 2;
      CHECK(quantizer.group_rows() == 128);
      CHECK(quantizer.row_bytes() ==
            static_cast<size_t>((pairs * (angle_bits + radius_bits) + 7) / 8));
      CHECK(quantizer.code_bytes() == static_cast<size_t>(8 * pairs) + 128 * quantizer.row_bytes());
      const std::vector<float> rows = gaussian_rows(2 * 128, dim, 2);
      const std::vector<float> decoded = round_trip(quantizer, rows, dim);
      for (int start = 0; start < 256; start += 128) {
        for (int pair = 0; pair < pairs; ++pair) {
          const bool has_second = 2 * pair + 1 < dim;
          std::vector<double> angles;
          std::vector<double> radii;
          for (int row = start; row < start + 128; ++row) {
            const float* point = rows.data() + row * dim + 2 * pair;
            const double y = has_second ? static_cast<double>(point[1]) : 0;
            angles.push_back(angle_of(y, static_cast<double>(point[0])));
            radii.push_back(std::hypot(static_cast<double>(point[0]), y));
          }
          const Cells angle_cells = cells_of(angles, angle_bits, ShortFloat::float16);
          const Cells radius_cells = cells_of(radii, radius_bits, ShortFloat::wide16);
          for (size_t i = 0; i < 128; ++i) {
            const double angle = angle_cells.middle(angle_cells.nearest(angles[i]));
            const double radius = radius_cells.middle(radius_cells.nearest(radii[i]));
            const float* point = decoded.data() + (start + static_cast<int>(i)) * dim + 2 * pair;
            INFO("dim " << dim << ", " << angle_bits << 'x' << radius_bits << ", pair " << pair);
            REQUIRE(std::fabs(static_cast<double>(point[0]) - radius * std::cos(angle)) < 1e-5);
            if (!has_second) continue;
            REQUIRE(std::fabs(static_cast<double>(point[1]) - radius * std::sin(angle)) < 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("PolarPair g128: its error on the unit Gaussian", "[codec]") {
  const double four = coding_error(PairGroupQuantizer(64, 4, 4), 128 * 20, 64, 3);
  INFO("4x4: " << four);
  CHECK(four < 0.0155);
  CHECK(four > 0.0130);
  // Both grids twice as fine: a quarter of the error, but for the parameters' rounding.
  CHECK(coding_error(PairGroupQuantizer(64, 5, 5), 128 * 20, 64, 3) < four / 3.8);
  CHECK(coding_error(PairGroupQuantizer(64, 8, 8), 128 * 20, 64, 3) < four / 200);
}

TEST_CASE("PolarPair g128: parameters first, then a row from each new byte", "[codec]") {
  const PairGroupQuantizer quantizer(2, 3, 3);
  std::vector<float> rows(256, 0.0F);
  for (size_t row = 0; row < 128; ++row) rows[2 * row] = row == 5 ? 2.0F : 1.0F;
  rows[2 * 7] = 0;
  rows[2 * 7 + 1] = 1.5F;
  const std::vector<uint8_t> code = encode_rows(quantizer, rows, 2);
  REQUIRE(code.size() == 8 + 128);
  CHECK(read_short_float(ShortFloat::float16, code.data()) == 0);
  CHECK(read_short_float(ShortFloat::float16, code.data() + 2) ==
        static_cast<float>(as_stored(kPi / 16, ShortFloat::float16)));
  CHECK(read_short_float(ShortFloat::wide16, code.data() + 4) == 1);
  CHECK(read_short_float(ShortFloat::wide16, code.data() + 6) == 0.125F);
  CHECK(quantizer.row_offset(0) == 8);
  for (size_t row = 0; row < 128; ++row) {
    const int expected = row == 5 ? 7 << 3 : row == 7 ? (7 | 4 << 3) : 0;
    REQUIRE(code[8 + row] == expected);
  }
}

TEST_CASE("PolarPair g128: groups without spread come back whole, zeros as zeros", "[codec]") {
  const int dim = 7;
  const PairGroupQuantizer quantizer(dim, 4, 4);
  const std::vector<float> zeros(static_cast<size_t>(128 * dim), 0.0F);
  const std::vector<uint8_t> zero_code = encode_rows(quantizer, zeros, dim);
  CHECK(zero_code == std::vector<uint8_t>(quantizer.code_bytes(), 0));
  CHECK(decode_rows(quantizer, zero_code, dim) == zeros);
  // −0 is 0 too.
  CHECK(encode_rows(quantizer, std::vector<float>(zeros.size(), -0.0F), dim) == zero_code);

  const std::vector<float> one = gaussian_rows(1, dim, 4);
  std::vector<float> same;
  for (int row = 0; row < 128; ++row) same.insert(same.end(), one.begin(), one.end());
  CHECK(mean_squared_error(same, round_trip(quantizer, same, dim)) < 1e-5);

  // A spread below the smallest float16 step.
  for (size_t i = 0; i < same.size(); i += 3) same[i] = std::nextafter(same[i], 9.0F);
  CHECK(mean_squared_error(same, round_trip(quantizer, same, dim)) < 1e-5);
  for (float& value : same) value *= 1e-30F;
  for (const float value : round_trip(quantizer, same, dim)) REQUIRE(std::isfinite(value));
}

TEST_CASE("PolarPair g128: one zero row among others", "[codec]") {
  std::vector<float> rows = gaussian_rows(128, 4, 5);
  std::fill(rows.begin() + 4 * 77, rows.begin() + 4 * 78, 0.0F);
  const std::vector<float> decoded = round_trip(PairGroupQuantizer(4, 4, 4), rows, 4);
  // The first radius cell's middle, as published: half a step from 0.
  for (size_t i = 4 * 77; i < 4 * 78; ++i) REQUIRE(std::fabs(decoded[i]) < 0.2F);
}

TEST_CASE("PolarPair g128 holds radii as large as its form of floats, and refuses others",
          "[codec]") {
  for (const ShortFloat form : {ShortFloat::float16, ShortFloat::wide16}) {
    PairGroupQuantizer quantizer(6, 4, 4);
    quantizer.set_short_float(form);
    const auto most = static_cast<float>(max_short_float(form));
    std::vector<float> rows(128 * 6, 0.0F);
    rows[6 * 100 + 4] = most;
    for (const float value : round_trip(quantizer, rows, 6)) REQUIRE(std::isfinite(value));
    for (const float large : {std::nextafterf(most, 3e38F), 1e30F, 3.4e38F}) {
      rows[6 * 100 + 4] = large;
      require_error(StatusCode::bad_argument, "pair 2",
                    [&] { (void)encode_rows(quantizer, rows, 6); });
      require_error(StatusCode::bad_argument,
                    form == ShortFloat::float16 ? "0 to 65504" : "0 to 1.84287e+19",
                    [&] { (void)encode_rows(quantizer, rows, 6); });
    }
  }
}

TEST_CASE("PolarPair g128: any bytes decode to finite numbers", "[codec]") {
  const PairGroupQuantizer quantizer(5, 3, 4);
  Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<uint8_t> code(quantizer.code_bytes());
    for (uint8_t& byte : code) {
      byte = trial == 0 ? 0xff : trial == 1 ? 0x7b : static_cast<uint8_t>(random.next());
    }
    for (const float value : decode_rows(quantizer, code, 5)) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("PolarPair g128 refuses other bit widths by name", "[codec]") {
  for (const int bits : {-1, 0, 9}) {
    require_error(StatusCode::bad_argument, "angle bits; 1 to 8",
                  [&] { PairGroupQuantizer(8, bits, 4); });
    require_error(StatusCode::bad_argument, "radius bits; 1 to 8",
                  [&] { PairGroupQuantizer(8, 4, bits); });
  }
}

TEST_CASE("PolarPair g128: the bytes are pinned", "[codec]") {
  for (const auto& [form, sum] : {std::pair{ShortFloat::float16, 0x53cecb65e4abc879ULL},
                                  std::pair{ShortFloat::wide16, 0x7eb0b7eb4f0348e8ULL}}) {
    PairGroupQuantizer quantizer(33, 5, 3);
    quantizer.set_short_float(form);
    const std::vector<uint8_t> codes = encode_rows(quantizer, gaussian_rows(256, 33, 7), 33);
    CHECK(checksum64(codes.data(), codes.size()) == sum);
  }
}
