// SPDX-License-Identifier: MIT
// PolarTree against Algorithm 1 with libm's atan2, its codebooks' errors, and hostile tables.
#include "src/codec/published/tree_quantizer.h"

#include <algorithm>
#include <cmath>

#include "src/codec/bit_packing.h"
#include "src/codec/lloyd_max.h"
#include "src/codec/published/scalar_kmeans.h"
#include "src/core/checksum.h"
#include "src/core/format.h"
#include "src/core/portable_math.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

double turn_of(double angle) { return angle < 0 ? angle + 2 * kPi : angle; }

/// The shorter way round between two angles.
double distance(double a, double b) {
  const double straight = std::fabs(a - b);
  return std::min(straight, 2 * kPi - straight);
}

size_t nearest_angle(const std::vector<double>& angles, double angle) {
  size_t best = 0;
  for (size_t i = 1; i < angles.size(); ++i) {
    if (distance(angles[i], angle) < distance(angles[best], angle)) best = i;
  }
  return best;
}

/// Algorithm 1, Polar, Quant and DeQuant of one block, recursively.
std::vector<double> reference_block(const std::vector<double>& x, const TreeQuantizer& quantizer,
                                    double* norm) {
  if (x.size() == 1) {
    *norm = x[0];
    return {1.0};
  }
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  double first = 0;
  double second = 0;
  const std::vector<double> left = reference_block({x.begin(), middle}, quantizer, &first);
  const std::vector<double> right = reference_block({middle, x.end()}, quantizer, &second);
  const auto level = static_cast<size_t>(std::log2(static_cast<double>(x.size())) + 0.5);
  const std::vector<double>& angles = quantizer.codebooks()[level - 1].angles();
  // The index of a node of two zeros is 0; its radius makes up for any.
  const double angle =
      angles[first == 0 && second == 0 ? 0
                                       : nearest_angle(angles, turn_of(std::atan2(second, first)))];
  *norm = std::hypot(first, second);
  std::vector<double> out;
  for (const double value : left) out.push_back(std::cos(angle) * value);
  for (const double value : right) out.push_back(std::sin(angle) * value);
  return out;
}

}  // namespace

TEST_CASE("AngleCodebook finds the nearest angle the shorter way round", "[codec]") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t count = 1 + random.below(trial < 100 ? 4 : 256);
    std::vector<double> angles;
    for (size_t i = 0; i < count; ++i) angles.push_back(random.uniform() * 2 * kPi);
    std::sort(angles.begin(), angles.end());
    const AngleCodebook book(angles, AngleCodebook::Range::circle);
    for (int i = 0; i < 200; ++i) {
      const auto x = static_cast<float>(random.normal());
      const auto y = static_cast<float>(random.normal());
      const double angle = turn_of(std::atan2(static_cast<double>(y), static_cast<double>(x)));
      const size_t best = nearest_angle(angles, angle);
      const auto found = static_cast<size_t>(book.nearest(x, y));
      // Boundaries are float directions: within 1e-6 of one either side will do.
      REQUIRE(distance(angles[found], angle) < distance(angles[best], angle) + 1e-6);
    }
  }
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> angles;
    for (int i = 0; i < 8; ++i) angles.push_back(random.uniform() * kPi / 2);
    std::sort(angles.begin(), angles.end());
    const AngleCodebook book(angles, AngleCodebook::Range::quarter);
    for (int i = 0; i < 200; ++i) {
      const double angle = random.uniform() * kPi / 2;
      const auto found = static_cast<size_t>(book.nearest(static_cast<float>(5 * std::cos(angle)),
                                                          static_cast<float>(5 * std::sin(angle))));
      REQUIRE(distance(angles[found], angle) <
              distance(angles[nearest_angle(angles, angle)], angle) + 1e-6);
    }
  }
}

TEST_CASE("AngleCodebook: boundaries go counter-clockwise, zero has index 0", "[codec]") {
  for (int bits = 1; bits <= 8; ++bits) {
    const AngleCodebook book(angle_codebook(1, bits).levels, AngleCodebook::Range::circle);
    const int count = 1 << bits;
    // The half-axes are boundaries of the uniform circle.
    CHECK(book.nearest(1, 0) == 0);
    CHECK(book.nearest(1, -0.0F) == 0);
    CHECK(book.nearest(-1, 0) == count / 2);
    CHECK(book.nearest(-1, -0.0F) == count / 2);
    CHECK(book.nearest(0, 1) == (bits == 1 ? 0 : count / 4));
    CHECK(book.nearest(0, -1) == (bits == 1 ? 1 : 3 * count / 4));
    CHECK(book.nearest(1, -1e-30F) == count - 1);
    CHECK(book.nearest(0, 0) == 0);
    CHECK(book.nearest(-0.0F, -0.0F) == 0);
    if (bits >= 3) CHECK(book.nearest(2, 2) == count / 8);
  }
  // The middle of a quarter's symmetric codebook is π/4.
  const AngleCodebook quarter(angle_codebook(2, 2).levels, AngleCodebook::Range::quarter);
  CHECK(quarter.nearest(3, 3) == 2);
  CHECK(quarter.nearest(3, 2.99F) == 1);
  CHECK(quarter.nearest(1, 0) == 0);
  CHECK(quarter.nearest(0, 1) == 3);
  CHECK(quarter.nearest(0, 0) == 0);
}

TEST_CASE("PolarTree4.2.2.2 on the unit Gaussian", "[codec]") {
  const TreeQuantizer quantizer(1024, {4, 2, 2, 2}, false);
  // §4.1: 3.875 bits a coordinate.
  CHECK(quantizer.code_bytes() * 8 * 1000 == 3875 * 1024);
  const double error = coding_error(quantizer, 300, 1024, 1);
  INFO("error " << error);
  CHECK(error <= 0.0330);
  CHECK(error >= 0.0300);
}

TEST_CASE("PolarTree is Algorithm 1, at any dimension and depth", "[codec]") {
  const std::vector<std::vector<int>> trees = {{4},          {1},          {8, 8},
                                               {4, 2, 2, 2}, {3, 3, 1, 5}, {4, 3, 3, 2, 2, 2, 1}};
  for (const int dim : {1, 2, 3, 7, 100, 129}) {
    for (const std::vector<int>& bits : trees) {
      const auto levels = static_cast<int>(bits.size());
      if (levels > 1 && (1 << (levels - 1)) >= dim) continue;
      const TreeQuantizer quantizer(dim, bits, false);
      const int size = 1 << levels;
      const int blocks = (dim + size - 1) / size;
      CHECK(quantizer.blocks() == blocks);
      int total = 16 * blocks;
      for (int level = 1; level <= levels; ++level) {
        total += blocks * (size >> level) * bits[static_cast<size_t>(level - 1)];
      }
      CHECK(quantizer.code_bytes() == static_cast<size_t>((total + 7) / 8));

      const std::vector<float> rows = gaussian_rows(5, dim, 2);
      const std::vector<uint8_t> codes = encode_rows(quantizer, rows, dim);
      const std::vector<float> decoded = decode_rows(quantizer, codes, dim);
      for (int row = 0; row < 5; ++row) {
        if (total % 8 != 0) {
          const uint8_t last = codes[static_cast<size_t>(row + 1) * quantizer.code_bytes() - 1];
          REQUIRE(last >> (total % 8) == 0);
        }
        for (int block = 0; block < blocks; ++block) {
          std::vector<double> x(static_cast<size_t>(size), 0.0);
          const int inside = std::min(size, dim - block * size);
          const auto first = rows.begin() + row * dim + block * size;
          std::copy(first, first + inside, x.begin());
          double norm = 0;
          const std::vector<double> unit = reference_block(x, quantizer, &norm);
          const double stored = as_stored(norm);
          for (int i = 0; i < inside; ++i) {
            const auto at = static_cast<size_t>(row * dim + block * size + i);
            INFO("dim " << dim << ", " << levels << " levels, coordinate " << block * size + i);
            REQUIRE(std::fabs(static_cast<double>(decoded[at]) -
                              stored * unit[static_cast<size_t>(i)]) < 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("PolarTree at full depth keeps one radius", "[codec]") {
  const TreeQuantizer quantizer(1000, {4, 3, 3, 3, 3, 3, 3, 3, 3, 3}, false);
  CHECK(quantizer.blocks() == 1);
  const std::vector<float> rows = gaussian_rows(20, 1000, 3);
  const std::vector<uint8_t> codes = encode_rows(quantizer, rows, 1000);
  CHECK(mean_squared_error(rows, decode_rows(quantizer, codes, 1000)) < 0.03);
  for (size_t row = 0; row < 20; ++row) {
    double square = 0;
    for (size_t i = 0; i < 1000; ++i) {
      square +=
          static_cast<double>(rows[row * 1000 + i]) * static_cast<double>(rows[row * 1000 + i]);
    }
    const float stored =
        read_short_float(ShortFloat::wide16, codes.data() + row * quantizer.code_bytes());
    CHECK(std::fabs(static_cast<double>(stored) / std::sqrt(square) - 1) < 0.001);
  }
}

TEST_CASE("PolarTree: radii first, then level after level", "[codec]") {
  const TreeQuantizer quantizer(8, {3, 2}, false);
  REQUIRE(quantizer.code_bytes() == 6);  // 2 radii, 4 × 3 bits, 2 × 2 bits
  // First block: angles 45° and 225°, equal radii; second: (0, 2) and zeros.
  const std::vector<uint8_t> code = encode_rows(quantizer, {1, 1, -1, -1, 0, 2, 0, 0}, 8);
  CHECK(read_short_float(ShortFloat::wide16, code.data()) == 2);
  CHECK(read_short_float(ShortFloat::wide16, code.data() + 2) == 2);
  const uint32_t indices = code[4] | static_cast<uint32_t>(code[5]) << 8;
  CHECK((indices & 7U) == 1);
  CHECK((indices >> 3 & 7U) == 5);
  CHECK((indices >> 6 & 7U) == 2);
  CHECK((indices >> 9 & 7U) == 0);
  CHECK((indices >> 12 & 3U) == 2);
  CHECK((indices >> 14 & 3U) == 0);
}

TEST_CASE("PolarTree: zero rows, and norms at the end of floats of 16 bits", "[codec]") {
  for (const int dim : {1, 7, 129}) {
    const TreeQuantizer quantizer(dim, {4}, false);
    const std::vector<float> zeros(static_cast<size_t>(dim), 0.0F);
    const std::vector<uint8_t> code = encode_rows(quantizer, zeros, dim);
    CHECK(code == std::vector<uint8_t>(quantizer.code_bytes(), 0));
    CHECK(decode_rows(quantizer, code, dim) == zeros);
    CHECK(encode_rows(quantizer, std::vector<float>(zeros.size(), -0.0F), dim) == code);
  }
  for (const ShortFloat form : {ShortFloat::float16, ShortFloat::wide16}) {
    TreeQuantizer quantizer(32, {4, 2, 2, 2}, false);
    quantizer.set_short_float(form);
    const auto most = static_cast<float>(max_short_float(form));
    std::vector<float> row(32, 0.0F);
    row[20] = -most;
    for (const float value : round_trip(quantizer, row, 32)) REQUIRE(std::isfinite(value));
    for (const float large : {std::nextafterf(most, 3e38F), 1e30F, -3.4e38F}) {
      row[20] = large;
      require_error(StatusCode::bad_argument, "16 to 31",
                    [&] { (void)encode_rows(quantizer, row, 32); });
      require_error(StatusCode::bad_argument,
                    form == ShortFloat::float16 ? "0 to 65504" : "0 to 1.84287e+19",
                    [&] { (void)encode_rows(quantizer, row, 32); });
    }
    // No single coordinate is too large here, only the norm.
    row.assign(32, .6F * most);
    require_error(StatusCode::bad_argument, "0 to 15",
                  [&] { (void)encode_rows(quantizer, row, 32); });
  }
}

TEST_CASE("PolarTree: any bytes decode to finite numbers", "[codec]") {
  const TreeQuantizer quantizer(33, {3, 2, 1}, false);
  for (const int fill : {0xff, 0x7c, 0xfc, 0x7b}) {
    for (const float value : decode_rows(
             quantizer, std::vector<uint8_t>(quantizer.code_bytes(), static_cast<uint8_t>(fill)),
             33)) {
      REQUIRE(std::isfinite(value));
    }
  }
}

TEST_CASE("PolarTree refuses what does not fit, and says what does", "[codec]") {
  const auto make = [](int dim, std::vector<int> bits) {
    return TreeQuantizer(dim, std::move(bits), false);
  };
  for (const auto& [dim, deepest] : std::vector<std::pair<int, int>>{
           {1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {1024, 10}, {65535, 16}}) {
    CHECK(make(dim, std::vector<int>(static_cast<size_t>(deepest), 2)).blocks() == 1);
    require_error(StatusCode::bad_argument, format_text("1 to {} are", deepest),
                  [&, d = dim, l = deepest] {
                    (void)make(d, std::vector<int>(static_cast<size_t>(l + 1), 2));
                  });
  }
  require_error(StatusCode::bad_argument, "0 levels", [&] { (void)make(8, {}); });
  for (const int bits : {-1, 0, 9}) {
    require_error(StatusCode::bad_argument, "at level 2; 1 to 8", [&] {
      (void)make(8, {4, bits});
    });
  }
}

TEST_CASE("scalar_kmeans finds clusters, and the Lloyd-Max levels of a large sample", "[codec]") {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i % 3 == 0 ? 1 : i % 3 == 1 ? 5 : 5.5);
  CHECK(scalar_kmeans(values, 3, 1) == std::vector<double>{1, 5, 5.5});
  CHECK(scalar_kmeans(values, 5, 1) == std::vector<double>{1, 5, 5.5, 5.5, 5.5});
  CHECK(scalar_kmeans(values, 1, 1).size() == 1);
  CHECK(std::fabs(scalar_kmeans(values, 1, 1)[0] - 11.5 / 3) < 1e-12);
  CHECK(scalar_kmeans({2.5}, 4, 1) == std::vector<double>(4, 2.5));

  Random random(4);
  std::vector<double> normals;
  for (int i = 0; i < 65536; ++i) normals.push_back(random.normal());
  for (const int bits : {2, 4, 8}) {
    const std::vector<double> centroids = scalar_kmeans(normals, 1 << bits, 9);
    CHECK(std::is_sorted(centroids.begin(), centroids.end()));
    double error = 0;
    for (const double value : normals) {
      double least = 100;
      for (const double centroid : centroids) least = std::min(least, std::fabs(value - centroid));
      error += least * least;
    }
    INFO(bits << " bits: " << error / 65536);
    CHECK(error / 65536 < 1.1 * normal_codebook(bits).mse);
  }
  std::reverse(normals.begin(), normals.end());
  CHECK(scalar_kmeans(normals, 16, 9) == scalar_kmeans({normals.rbegin(), normals.rend()}, 16, 9));
}
