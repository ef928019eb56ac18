// SPDX-License-Identifier: MIT
// A codebook of angles: the nearest one to a point's angle, and each one's cosine and sine.
//
// The angle itself is never computed: atan2 differs between libraries. The directions of the cell
// boundaries, midway between neighbouring angles, are kept as float unit vectors, and a point lies
// at or past a boundary when their cross product is not negative. The products of two floats are
// exact in double, so this comparison has one right answer on every machine and in every vector
// width.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace polarquant {

class AngleCodebook {
 public:
  /// circle: angles in [0, 2π), nearest the shorter way round. quarter: angles in [0, π/2], points
  /// with x, y ≥ 0.
  enum class Range { circle, quarter };

  AngleCodebook() = default;
  /// angles: 1 or more, ascending (equal neighbours allowed), inside the range.
  AngleCodebook(std::vector<double> angles, Range range);

  /// The index of the angle nearest to that of (x, y). A point on a boundary belongs to the cell
  /// that follows it counter-clockwise; (0, 0) has index 0.
  int nearest(float x, float y) const noexcept;

  const std::vector<double>& angles() const noexcept { return angles_; }
  std::span<const float> cosines() const noexcept { return cosines_; }
  std::span<const float> sines() const noexcept { return sines_; }
  size_t memory_bytes() const noexcept;

 private:
  struct Direction {
    float cosine;
    float sine;
  };

  static Direction direction(double angle) noexcept;
  static bool in_lower_half(float x, float y) noexcept;
  static bool at_or_past(float x, float y, const Direction& boundary) noexcept;

  std::vector<double> angles_;
  std::vector<float> cosines_;
  std::vector<float> sines_;
  std::vector<Direction> boundaries_;
  size_t first_index_ = 0;  // of a point before all boundaries
};

}  // namespace polarquant
