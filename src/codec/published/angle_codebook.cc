// SPDX-License-Identifier: MIT
#include "src/codec/published/angle_codebook.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/portable_math.h"

namespace polarquant {
namespace {

/// Far below the distance between float directions, far above the rounding of kPi's multiples: an
/// angle nearer to an axis than this is meant to lie on it.
constexpr double kOnAxis = 1e-12;

}  // namespace

AngleCodebook::AngleCodebook(std::vector<double> angles, Range range) : angles_(std::move(angles)) {
  std::vector<double> boundaries;
  for (size_t i = 0; i < angles_.size(); ++i) {
    const Direction at = direction(angles_[i]);
    cosines_.push_back(at.cosine);
    sines_.push_back(at.sine);
    if (i > 0) boundaries.push_back((angles_[i - 1] + angles_[i]) / 2);
  }
  if (range == Range::circle) {
    // Between the last angle and the first, across the positive x axis.
    const double across = (angles_.back() + angles_.front()) / 2 + kPi;
    if (across < 2 * kPi - kOnAxis) {
      boundaries.push_back(across);
    } else {
      boundaries.insert(boundaries.begin(), std::max(0.0, across - 2 * kPi));
      first_index_ = angles_.size() - 1;
    }
  }
  for (const double angle : boundaries) boundaries_.push_back(direction(angle));
}

int AngleCodebook::nearest(float x, float y) const noexcept {
  if (x == 0 && y == 0) return 0;
  const auto passed = std::partition_point(
      boundaries_.begin(), boundaries_.end(),
      [x, y](const Direction& boundary) { return at_or_past(x, y, boundary); });
  const size_t index = first_index_ + static_cast<size_t>(passed - boundaries_.begin());
  return static_cast<int>(index % angles_.size());
}

size_t AngleCodebook::memory_bytes() const noexcept {
  return angles_.capacity() * sizeof(double) +
         (cosines_.capacity() + sines_.capacity()) * sizeof(float) +
         boundaries_.capacity() * sizeof(Direction);
}

AngleCodebook::Direction AngleCodebook::direction(double angle) noexcept {
  const auto [sine, cosine] = portable_sincos(angle);
  return {std::fabs(cosine) < kOnAxis ? 0.0F : static_cast<float>(cosine),
          std::fabs(sine) < kOnAxis ? 0.0F : static_cast<float>(sine)};
}

/// Angles in [π, 2π).
bool AngleCodebook::in_lower_half(float x, float y) noexcept { return y < 0 || (y == 0 && x < 0); }

bool AngleCodebook::at_or_past(float x, float y, const Direction& boundary) noexcept {
  const bool point_lower = in_lower_half(x, y);
  const bool boundary_lower = in_lower_half(boundary.cosine, boundary.sine);
  if (point_lower != boundary_lower) return point_lower;
  return static_cast<double>(boundary.cosine) * static_cast<double>(y) >=
         static_cast<double>(boundary.sine) * static_cast<double>(x);
}

}  // namespace polarquant
