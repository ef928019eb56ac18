// SPDX-License-Identifier: MIT
// Random numbers decide stored bytes: their values are pinned, not only their distribution.
#include "src/core/random.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/core/checksum.h"
#include "tests/support/catch.h"

using polarquant::Random;

TEST_CASE("next gives SplitMix64's published numbers", "[core]") {
  Random random(1234567);
  for (const uint64_t expected :
       {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL}) {
    CHECK(random.next() == expected);
  }
}

TEST_CASE("streams of one seed differ from each other and from the seed's own numbers", "[core]") {
  std::vector<uint64_t> firsts{Random(42).next()};
  for (uint64_t stream = 0; stream < 100; ++stream) firsts.push_back(Random(42, stream).next());
  for (uint64_t seed = 0; seed < 40; ++seed) firsts.push_back(Random(seed, 3).next());
  for (size_t i = 0; i < firsts.size(); ++i) {
    for (size_t j = 0; j < i; ++j) REQUIRE(firsts[i] != firsts[j]);
  }
  CHECK(Random(42, 7).next() == Random(42, 7).next());
}

TEST_CASE("uniform is in [0, 1), of 53 bits, with the right mean and spread", "[core]") {
  Random random(5);
  constexpr int kCount = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.uniform();
    REQUIRE((x >= 0 && x < 1));
    REQUIRE(std::ldexp(x, 53) == std::floor(std::ldexp(x, 53)));
    sum += x;
    squares += x * x;
  }
  // Five standard errors: √(1/12)/√n of the mean, √(4/45)/√n of the mean square.
  CHECK(std::fabs(sum / kCount - 0.5) < 5 * 0.2887 / std::sqrt(kCount));
  CHECK(std::fabs(squares / kCount - 1.0 / 3) < 5 * 0.2981 / std::sqrt(kCount));
}

TEST_CASE("below is even over its range, and unbiased where a remainder would not be", "[core]") {
  Random random(6);
  CHECK(random.below(1) == 0);
  std::array<int, 10> counts{};
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) ++counts[random.below(counts.size())];
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - kCount / 10.0) * (count - kCount / 10.0) / (kCount / 10.0);
  }
  CHECK(chi_square < 33.7);  // 9 degrees of freedom, probability 1e-4

  // With a bound of 3·2^62 a plain remainder (or a multiply without rejection) gives a quarter or a
  // third of its values twice the weight of the others.
  constexpr uint64_t kThird = uint64_t{1} << 62;
  std::array<int, 3> thirds{};
  std::array<int, 3> low_bits{};
  for (int i = 0; i < kCount; ++i) {
    const uint64_t x = random.below(3 * kThird);
    REQUIRE(x < 3 * kThird);
    ++thirds[x / kThird];
    ++low_bits[x % 3];
  }
  const double five_deviations = 5 * std::sqrt(kCount * (1.0 / 3) * (2.0 / 3));
  for (int i = 0; i < 3; ++i) {
    CHECK(std::fabs(thirds[i] - kCount / 3.0) < five_deviations);
    CHECK(std::fabs(low_bits[i] - kCount / 3.0) < five_deviations);
  }
}

TEST_CASE("normal has the moments and tails of a standard normal", "[core]") {
  Random random(7);
  constexpr int kCount = 400000;
  std::array<double, 5> moments{};
  int beyond_two = 0;
  double neighbours = 0;
  double previous = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    double power = 1;
    for (int m = 1; m <= 4; ++m) moments[m] += power *= x;
    if (std::fabs(x) > 2) ++beyond_two;
    neighbours += x * previous;
    previous = x;
  }
  // Five standard errors of each: √var of x, x², x³, x⁴ is 1, √2, √15, √96.
  const double root = std::sqrt(kCount);
  CHECK(std::fabs(moments[1] / kCount) < 5 / root);
  CHECK(std::fabs(moments[2] / kCount - 1) < 5 * std::sqrt(2) / root);
  CHECK(std::fabs(moments[3] / kCount) < 5 * std::sqrt(15) / root);
  CHECK(std::fabs(moments[4] / kCount - 3) < 5 * std::sqrt(96) / root);
  CHECK(std::fabs(beyond_two / static_cast<double>(kCount) - 0.0455003) < 5 * 0.2084 / root);
  CHECK(std::fabs(neighbours / kCount) < 5 / root);
}

TEST_CASE("the first thousand values of uniform, below and normal are pinned", "[core]") {
  Random random(1, 2);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(random.uniform());
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<double>(random.below(1000003)));
  for (int i = 0; i < 1000; ++i) values.push_back(random.normal());
  CHECK(polarquant::checksum64(values.data(), values.size() * sizeof(double)) ==
        0x88b38f00b430108bULL);
}
