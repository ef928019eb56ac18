// SPDX-License-Identifier: MIT
// Against libm in long double, whose own error is a thousandth of the bound.
#include "src/core/portable_math.h"

#include <cmath>

#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// |got − want| relative to want, in units of the promised 1e-15: under 1 is as promised.
double relative_error(double got, long double want) {
  return static_cast<double>(std::fabs((got - want) / want)) * 1e15;
}

double absolute_error(double got, long double want) {
  return static_cast<double>(std::fabs(got - want)) * 1e15;
}

}  // namespace

TEST_CASE("portable_log is libm's within 1e-15", "[core]") {
  Random random(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double anywhere =
        std::ldexp(1 + random.uniform(), static_cast<int>(random.below(2044)) - 1022);
    worst = std::max(worst, relative_error(portable_log(anywhere),
                                           std::log(static_cast<long double>(anywhere))));
    // Near 1 the result is near 0, and its relative error is the hard part.
    const double near_one =
        1 + (random.uniform() - 0.5) * std::ldexp(1.0, -static_cast<int>(random.below(50)));
    if (near_one == 1) continue;
    worst = std::max(worst, relative_error(portable_log(near_one),
                                           std::log(static_cast<long double>(near_one))));
  }
  CHECK(worst < 1);
  CHECK(portable_log(1) == 0);
}

TEST_CASE("portable_exp is libm's within 1e-15", "[core]") {
  Random random(2);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = (2 * random.uniform() - 1) * (i % 2 == 0 ? 700 : 1);
    worst = std::max(worst, relative_error(portable_exp(x), std::exp(static_cast<long double>(x))));
  }
  CHECK(worst < 1);
  CHECK(portable_exp(0) == 1);
}

TEST_CASE("portable_sincos is libm's within 1e-15", "[core]") {
  Random random(3);
  for (const double top : {1.0, 2 * kPi, 100.0, 1e4, 1e6}) {
    double worst = 0;
    for (int i = 0; i < 100000; ++i) {
      const double angle = (2 * random.uniform() - 1) * top;
      const SineCosine got = portable_sincos(angle);
      worst = std::max(worst, relative_error(got.sine, std::sin(static_cast<long double>(angle))));
      worst =
          std::max(worst, relative_error(got.cosine, std::cos(static_cast<long double>(angle))));
    }
    INFO("angles up to " << top);
    CHECK(worst < 1);
  }
}

TEST_CASE("portable_sincos at quarter turns and at 0", "[core]") {
  CHECK(portable_sincos(0).sine == 0);
  CHECK(portable_sincos(0).cosine == 1);
  // The nearest doubles to multiples of π/2 are off by less than 1e-15 of their size; there a
  // relative bound on the vanishing one of the two would ask for more digits of π than any use has.
  for (int quarter = -8; quarter <= 8; ++quarter) {
    const double angle = quarter * (kPi / 2);
    const SineCosine got = portable_sincos(angle);
    INFO("quarter turns: " << quarter);
    CHECK(absolute_error(got.sine, std::sin(static_cast<long double>(angle))) < 1);
    CHECK(absolute_error(got.cosine, std::cos(static_cast<long double>(angle))) < 1);
  }
}
