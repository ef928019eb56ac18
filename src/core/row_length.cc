// SPDX-License-Identifier: MIT
#include "src/core/row_length.h"

#include <array>
#include <cmath>

#include "src/core/status.h"

namespace polarquant {
namespace {

/// Infinite or NaN for a row that is far too long or not finite. Sums lie side by side, so that
/// compilers make vectors of them.
float squared_length(const float* row, int64_t d) {
  constexpr int64_t kLanes = 16;
  std::array<float, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= d; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = row[i + lane];
      sums[static_cast<size_t>(lane)] += value * value;
    }
  }
  float sum = 0;
  for (; i < d; ++i) sum += row[i] * row[i];
  for (const float lane : sums) sum += lane;
  return sum;
}

[[noreturn]] void fail_for_row(const char* name, int64_t number, const float* row, int64_t d) {
  double squares = 0;
  for (int64_t i = 0; i < d; ++i) {
    require(std::isfinite(row[i]), StatusCode::bad_argument,
            "{}: row {} column {} is {}; finite numbers are allowed", name, number, i, row[i]);
    squares += static_cast<double>(row[i]) * row[i];
  }
  fail(StatusCode::bad_argument, "{}: row {} has length {:.3g}; up to {:.3g} (2^61) is allowed",
       name, number, std::sqrt(squares), static_cast<double>(kMaxRowLength));
}

/// Returns what the squared lengths add up to.
double add_up(const char* name, int64_t n, int64_t d, const float* x) {
  constexpr float kMost = kMaxRowLength * kMaxRowLength;
  double sum = 0;
  for (int64_t row = 0; row < n; ++row) {
    const float squares = squared_length(x + row * d, d);
    // Written so that a NaN is refused too.
    if (!(squares <= kMost)) fail_for_row(name, row, x + row * d, d);
    sum += static_cast<double>(squares);
  }
  return sum;
}

}  // namespace

void require_row_lengths(const char* name, int64_t n, int64_t d, const float* x) {
  add_up(name, n, d, x);
}

void require_training_lengths(const char* name, int64_t n, int64_t d, const float* x) {
  const double sum = add_up(name, n, d, x);
  require(sum <= kMaxSquaredLengths, StatusCode::bad_argument,
          "{}: the squared lengths of {} rows add up to {:.3g}, the mean length is {:.3g}; up to "
          "{:.3g} (2^125) together is allowed, which is a mean length of {:.3g}",
          name, n, sum, std::sqrt(sum / static_cast<double>(n)), kMaxSquaredLengths,
          std::sqrt(kMaxSquaredLengths / static_cast<double>(n)));
}

}  // namespace polarquant
