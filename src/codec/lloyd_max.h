// SPDX-License-Identifier: MIT
// Lloyd-Max scalar quantizers: the levels c_1 < … < c_n of least mean squared error for a known
// density (Lloyd, IEEE Trans. Inf. Theory 28, 1982; Max, IRE Trans. Inf. Theory 6, 1960), i.e. each
// level is the mean of its cell and each cell boundary the middle of two levels.
//
// Two densities: the standard normal, for PolarScalar and Polar8, and the angle between two norms
// of a Gaussian vector, for PolarTree. Both are log-concave, so the solution is unique (Fleischer
// 1964; Trushkin, IEEE Trans. Inf. Theory 28, 1982) and how it is found does not matter to its
// value.
//
// Tables reach stored bytes, so they are made from + − · / √ and core/portable_math.h alone: equal
// on all machines. Each is made once, on first use, and kept; a 256-level table takes milliseconds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace polarquant {

inline constexpr int kMaxCodebookBits = 8;
inline constexpr int kMaxAngleLevel = 16;

struct ScalarCodebook {
  std::vector<double> levels;  // ascending
  double mse = 0;              // of the density it was made for
};

/// 2^bits levels for the standard normal, exactly symmetric about 0; bits in [1, 8]. Thread-safe.
const ScalarCodebook& normal_codebook(int bits);

/// 2^bits angles in radians for level `level` of the polar tree (Han et al., Lemma 2): uniform on
/// [0, 2π) at level 1, density ∝ sin^(2^(level−1)−1)(2θ) on [0, π/2] above, exactly symmetric about
/// π/4. level in [1, 16], bits in [1, 8]. Thread-safe.
const ScalarCodebook& angle_codebook(int level, int bits);

/// Levels and cell boundaries as encoders use them: rounded to float.
class LevelTable {
 public:
  explicit LevelTable(const ScalarCodebook& codebook);

  /// The index of the level nearest to `value`; on a boundary the lower one, 0 for NaN. A search
  /// by halves without branches, which would go wrong every other time: there are 2^bits − 1
  /// boundaries.
  int nearest(float value) const noexcept {
    const float* from = boundaries_.data();
    for (size_t half = (boundaries_.size() + 1) / 2; half > 0; half /= 2)
      from += half * static_cast<size_t>(from[half - 1] < value);
    return static_cast<int>(from - boundaries_.data());
  }
  float level(int index) const noexcept { return levels_[static_cast<size_t>(index)]; }
  std::span<const float> levels() const noexcept { return levels_; }
  std::span<const float> boundaries() const noexcept { return boundaries_; }
  size_t memory_bytes() const noexcept {
    return (levels_.capacity() + boundaries_.capacity()) * sizeof(float);
  }

 private:
  std::vector<float> levels_;
  std::vector<float> boundaries_;  // one fewer
};

}  // namespace polarquant
