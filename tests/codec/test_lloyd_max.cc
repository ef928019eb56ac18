// SPDX-License-Identifier: MIT
// The tables against published errors and levels, and against the two conditions that define them,
// with libm's functions in place of the library's own.
#include "src/codec/lloyd_max.h"

#include <cmath>
#include <limits>

#include "src/core/checksum.h"
#include "src/core/portable_math.h"
#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// P(a < z < b) of a standard normal z, by the tail that loses no digits.
double normal_mass(double a, double b) {
  const double root = std::sqrt(0.5);
  return a > 0 ? (std::erfc(a * root) - std::erfc(b * root)) / 2
               : (std::erfc(-b * root) - std::erfc(-a * root)) / 2;
}

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * kPi); }

/// The mean of an angle between a and b under sin^p(2θ), by Simpson's rule.
double angle_mean(int level, double a, double b) {
  const double power = std::ldexp(1.0, level - 1) - 1;
  constexpr int kSteps = 2000;
  double mass = 0;
  double moment = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double theta = a + (b - a) * i / kSteps;
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    const double density = weight * std::pow(std::fabs(std::sin(2 * theta)), power);
    mass += density;
    moment += density * (theta - a);
  }
  return a + moment / mass;
}

uint64_t checksum_of(const std::vector<double>& values) {
  return checksum64(values.data(), values.size() * sizeof(double));
}

}  // namespace

TEST_CASE("normal codebooks have the published errors and levels", "[codec]") {
  // Max 1960, table I, to its digits; he stopped a little short of the optimum from 16 levels on.
  const double published[] = {0.3634, 0.1175, 0.03454, 0.009497, 0.002499};
  for (int bits = 1; bits <= 5; ++bits) {
    INFO(bits << " bits");
    CHECK(std::fabs(normal_codebook(bits).mse / published[bits - 1] - 1) < 0.003);
  }
  CHECK(std::fabs(normal_codebook(1).mse - (1 - 2 / kPi)) < 1e-12);
  CHECK(std::fabs(normal_codebook(8).mse / 4.12e-5 - 1) < 0.01);
  // Panter and Dite's asymptotic error, √3·π/2 / 4^bits, is approached from below.
  for (int bits = 2; bits <= 8; ++bits) {
    const double asymptotic = std::sqrt(3.0) * kPi / 2 * std::ldexp(1.0, -2 * bits);
    const double before = std::sqrt(3.0) * kPi / 2 * std::ldexp(1.0, -2 * (bits - 1));
    CHECK(normal_codebook(bits).mse < asymptotic);
    CHECK(normal_codebook(bits).mse / asymptotic > normal_codebook(bits - 1).mse / before);
  }
  // Vicentino 2026, "Lloyd-Max Centroid Values".
  const double two[] = {0.4528, 1.5104};
  const double three[] = {0.2451, 0.7560, 1.3440, 2.1520};
  for (size_t i = 0; i < 2; ++i) {
    CHECK(std::fabs(normal_codebook(2).levels[2 + i] - two[i]) < 1e-4);
  }
  for (size_t i = 0; i < 4; ++i) {
    CHECK(std::fabs(normal_codebook(3).levels[4 + i] - three[i]) < 1e-4);
  }
}

TEST_CASE("each normal level is the mean of its cell, to ten digits", "[codec]") {
  for (int bits = 1; bits <= 8; ++bits) {
    const std::vector<double>& levels = normal_codebook(bits).levels;
    REQUIRE(levels.size() == size_t{1} << bits);
    double lower = -40;
    double variance_kept = 0;
    for (size_t i = 0; i < levels.size(); ++i) {
      const double upper = i + 1 < levels.size() ? (levels[i] + levels[i + 1]) / 2 : 40;
      const double mass = normal_mass(lower, upper);
      const double mean = (normal_density(lower) - normal_density(upper)) / mass;
      INFO(bits << " bits, level " << i);
      REQUIRE(std::fabs(levels[i] - mean) < 1e-10);
      REQUIRE(levels[i] == -levels[levels.size() - 1 - i]);
      REQUIRE(upper > levels[i]);
      variance_kept += mass * mean * mean;
      lower = upper;
    }
    // With centroids for levels the error is what the levels leave of the variance.
    CHECK(std::fabs(normal_codebook(bits).mse - (1 - variance_kept)) < 1e-10);
  }
}

TEST_CASE("each angle is the mean of its cell, at every level and width", "[codec]") {
  for (int level = 2; level <= kMaxAngleLevel; ++level) {
    const double spread = 1 / (2 * std::sqrt(std::ldexp(1.0, level - 1) - 1));
    // Simpson's rule wants the outer cells cut where nothing is left of the density.
    const double first = std::max(0.0, kPi / 4 - 9 * spread);
    const double last = std::min(kPi / 2, kPi / 4 + 9 * spread);
    for (int bits = 1; bits <= kMaxCodebookBits; ++bits) {
      const std::vector<double>& angles = angle_codebook(level, bits).levels;
      REQUIRE(angles.size() == size_t{1} << bits);
      double lower = first;
      for (size_t i = 0; i < angles.size(); ++i) {
        const double upper = i + 1 < angles.size() ? (angles[i] + angles[i + 1]) / 2 : last;
        INFO("level " << level << ", " << bits << " bits, angle " << i);
        REQUIRE(std::fabs(angles[i] - angle_mean(level, lower, upper)) < 1e-6 * spread);
        REQUIRE(std::fabs(angles[i] + angles[angles.size() - 1 - i] - kPi / 2) < 1e-15);
        REQUIRE(upper > angles[i]);
        lower = upper;
      }
      // Never more than the spread itself, and each bit more than halves the error.
      CHECK(angle_codebook(level, bits).mse < spread * spread);
      if (bits == 1) continue;
      CHECK(angle_codebook(level, bits).mse < angle_codebook(level, bits - 1).mse / 2);
    }
  }
}

TEST_CASE("one bit at level 2 is what the integral says", "[codec]") {
  // sin(2θ) on [0, π/4]: mean ½, so the levels are ½ and π/2−½.
  const ScalarCodebook& book = angle_codebook(2, 1);
  CHECK(std::fabs(book.levels[0] - 0.5) < 1e-12);
  CHECK(std::fabs(book.levels[1] - (kPi / 2 - 0.5)) < 1e-12);
  // E[(θ−½)²] = E[θ²] − ¼ with E[θ²] = (π−2)/4.
  CHECK(std::fabs(book.mse - ((kPi - 2) / 4 - 0.25)) < 1e-12);
}

TEST_CASE("level 1 is uniform over the circle", "[codec]") {
  for (int bits = 1; bits <= 8; ++bits) {
    const ScalarCodebook& book = angle_codebook(1, bits);
    const double width = 2 * kPi / (1 << bits);
    REQUIRE(book.levels.size() == size_t{1} << bits);
    for (size_t i = 0; i < book.levels.size(); ++i) {
      REQUIRE(std::fabs(book.levels[i] - (static_cast<double>(i) + 0.5) * width) < 1e-14);
    }
    CHECK(std::fabs(book.mse - width * width / 12) < 1e-14);
  }
}

TEST_CASE("tables are the same to the bit everywhere, and made once", "[codec]") {
  uint64_t normal = 0;
  for (int bits = 1; bits <= 8; ++bits) {
    normal = normal * 31 + checksum_of(normal_codebook(bits).levels);
  }
  uint64_t angle = 0;
  for (int level = 1; level <= kMaxAngleLevel; ++level) {
    for (int bits = 1; bits <= 8; ++bits) {
      angle = angle * 31 + checksum_of(angle_codebook(level, bits).levels);
    }
  }
  CHECK(normal == 0xa665fc8e6bb16297ULL);
  CHECK(angle == 0x7cfe65b73f9cd7c1ULL);
  CHECK(&normal_codebook(8) == &normal_codebook(8));
  CHECK(&angle_codebook(4, 2) == &angle_codebook(4, 2));
}

TEST_CASE("a codebook that does not exist is refused by name", "[codec]") {
  for (const int bits : {-1, 0, 9}) {
    test::require_error(StatusCode::bad_argument, "1 to 8", [&] { (void)normal_codebook(bits); });
    test::require_error(StatusCode::bad_argument, "1 to 8", [&] { (void)angle_codebook(2, bits); });
  }
  for (const int level : {-1, 0, 17}) {
    test::require_error(StatusCode::bad_argument, "1 to 16",
                        [&] { (void)angle_codebook(level, 2); });
  }
}

TEST_CASE("LevelTable finds the nearest level", "[codec]") {
  Random random(4);
  for (int bits = 1; bits <= 8; ++bits) {
    const LevelTable table(normal_codebook(bits));
    const int count = 1 << bits;
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<float>(2 * random.normal());
      int best = 0;
      for (int k = 1; k < count; ++k) {
        if (std::fabs(value - table.level(k)) < std::fabs(value - table.level(best))) best = k;
      }
      REQUIRE(table.nearest(value) == best);
    }
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(table.nearest(-infinity) == 0);
    CHECK(table.nearest(infinity) == count - 1);
    CHECK(table.nearest(std::numeric_limits<float>::quiet_NaN()) == 0);
    // Boundaries belong to the lower level; 0 is one of them.
    CHECK(table.nearest(0) == count / 2 - 1);
    for (int k = 0; k + 1 < count; ++k) {
      const float boundary = table.boundaries()[static_cast<size_t>(k)];
      REQUIRE(table.nearest(boundary) == k);
      REQUIRE(table.nearest(std::nextafter(boundary, infinity)) == k + 1);
    }
  }
}
