// SPDX-License-Identifier: MIT
// Bounds of inner products by fewer numbers.
#include "src/scan/search/leading_axes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/codec/dot.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

std::vector<float> reduced(const LeadingAxes& axes, const std::vector<float>& x, int dim) {
  const int64_t n = std::ssize(x) / dim;
  // One more, which is not written.
  std::vector<float> numbers(static_cast<size_t>(n * axes.size()) + 1, -7.0F);
  axes.reduce(n, x.data(), numbers.data());
  REQUIRE(numbers.back() == -7.0F);
  numbers.pop_back();
  return numbers;
}

/// By how much of ‖x‖‖y‖ bounds of inner products are too large: the least and the mean.
struct Excess {
  double least;
  double mean;
};
Excess excess_of(const LeadingAxes& axes, const std::vector<float>& x, const std::vector<float>& y,
                 int dim) {
  const std::vector<float> x_numbers = reduced(axes, x, dim);
  const std::vector<float> y_numbers = reduced(axes, y, dim);
  const int64_t nx = std::ssize(x) / dim;
  const int64_t ny = std::ssize(y) / dim;
  Excess excess = {1e9, 0};
  for (int64_t i = 0; i < nx; ++i) {
    for (int64_t j = 0; j < ny; ++j) {
      const float* a = x.data() + i * dim;
      const float* b = y.data() + j * dim;
      const double lengths = std::sqrt(dot_exact(a, a, dim) * dot_exact(b, b, dim));
      const double bound = dot_exact(x_numbers.data() + i * axes.size(),
                                     y_numbers.data() + j * axes.size(), axes.size()) +
                           axes.error_bound() * lengths;
      const double each = lengths > 0 ? (bound - dot_exact(a, b, dim)) / lengths : bound;
      excess.least = std::min(excess.least, each);
      excess.mean += each / static_cast<double>(nx * ny);
    }
  }
  return excess;
}

TEST_CASE("fewer numbers bound inner products from above", "[scan][lists]") {
  on_every_target([] {
    for (const auto& [dim, size] : {std::pair{2, 2}, std::pair{5, 4}, std::pair{65, 64},
                                    std::pair{200, 64}, std::pair{384, 128}}) {
      for (const int64_t count : {1, 3, 150}) {
        CAPTURE(dim, size, count);
        const std::vector<float> vectors = rows_near_axes(count, dim, std::min(dim, 20), .3, 1);
        const LeadingAxes axes(count, dim, vectors.data(), size);
        REQUIRE(axes.size() == size);
        CHECK(excess_of(axes, rows_near_axes(20, dim, std::min(dim, 20), .3, 7), vectors, dim)
                  .least >= 0);
        CHECK(excess_of(axes, normal_numbers(int64_t{20} * dim, 8), vectors, dim).least >= 0);
        CHECK(excess_of(axes, vectors, vectors, dim).least >= 0);
      }
    }
  });
}

TEST_CASE("bounds are near where vectors lie near few axes", "[scan][lists]") {
  constexpr int kDim = 384;
  for (const double noise : {0.0, .1, 1.0}) {
    CAPTURE(noise);
    const std::vector<float> vectors = rows_near_axes(400, kDim, 50, noise, 1);
    const LeadingAxes axes(400, kDim, vectors.data(), 64);
    CHECK(axes.error_bound() < .002);
    // What lies off the axes is noise²·(384 − 63) of noise²·384 + 50·384.
    const double off = noise * noise * 321 / (noise * noise * 384 + 50 * 384);
    CHECK(excess_of(axes, rows_near_axes(30, kDim, 50, noise, 9), vectors, kDim).mean <
          1.3 * off + 3 * axes.error_bound());
  }
}

TEST_CASE("axes and numbers are the same on every target", "[scan][lists]") {
  constexpr int kDim = 200;
  const std::vector<float> vectors = rows_near_axes(150, kDim, 20, .3, 1);
  std::vector<float> first;
  on_every_target([&] {
    const LeadingAxes axes(150, kDim, vectors.data(), 64);
    const std::vector<float> numbers = reduced(axes, vectors, kDim);
    if (first.empty()) first = numbers;
    CHECK(numbers == first);
  });
}

TEST_CASE("axes are found of vectors of any lengths", "[scan][lists]") {
  constexpr int kDim = 70;
  std::vector<float> vectors = normal_numbers(100 * kDim, 1);
  SECTION("all 0") { std::fill(vectors.begin(), vectors.end(), 0.0F); }
  SECTION("all equal") {
    for (size_t i = kDim; i < vectors.size(); ++i) vectors[i] = vectors[i - kDim];
  }
  SECTION("long") {
    for (float& value : vectors) value *= 1e17F;
  }
  SECTION("short") {
    for (float& value : vectors) value *= 1e-17F;
  }
  const LeadingAxes axes(100, kDim, vectors.data(), 64);
  CHECK(excess_of(axes, vectors, vectors, kDim).least >= 0);
}

}  // namespace
}  // namespace polarquant::test
