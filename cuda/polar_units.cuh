// SPDX-License-Identifier: MIT
// The published polar codecs' units: radii split by cosine and sine of looked-up angles. Products
// are those of src/codec in their order, but for PolarPair…g128, whose angles are floats here.
#pragma once

#include "cuda/row_units.cuh"

namespace polarquant::cuda {

/// Numbers of a last unit that no coordinate has are 0: lengths are summed.
__device__ inline void clear_behind(int dim, int unit, float (&y)[kUnitValues]) {
  const int count = dim - unit * kUnitValues;
  if (count >= kUnitValues) return;
#pragma unroll
  for (int i = 0; i < kUnitValues; ++i) {
    if (i >= count) y[i] = 0;
  }
}

/// Four levels of a tree, whatever is above them.
class TreeDecoder {
 public:
  __device__ TreeDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : rows_(&rows), unit_(unit), points_(points) {}

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    const int levels = rows_->tree_levels;
    if (levels > kUnitLevels) y[0] = root_radius(row);
#pragma unroll
    for (int level = kUnitLevels; level >= 1; --level) {
      if (level > levels) continue;
      const int nodes = kUnitValues >> level;
      const int first = unit_ * nodes;
      if (level == levels) {
#pragma unroll
        for (int j = 0; j < nodes; ++j)
          y[j] = first + j < rows_->tree_blocks ? load_half(row.code + 2 * (first + j)) : 0;
      }
      const int there = rows_->tree_blocks << (levels - level);
      // From the last node on, so that none is written over before it is read.
#pragma unroll
      for (int j = nodes - 1; j >= 0; --j) {
        const float radius = y[j];
        const float2 angle = first + j < there ? point(row, level, first + j) : float2{0, 0};
        y[2 * j] = radius * angle.x;
        y[2 * j + 1] = radius * angle.y;
      }
    }
    clear_behind(rows_->dim, unit_, y);
    return 1;
  }

 private:
  static constexpr int kUnitLevels = 4;

  /// Cosine and sine of an angle.
  __device__ float2 point(const RowPlace& row, int level, int node) const {
    const int bits = rows_->level_bits[level - 1];
    const uint64_t first =
        rows_->level_offset[level - 1] + static_cast<uint64_t>(node) * static_cast<uint64_t>(bits);
    return points_[rows_->level_table[level - 1] + load_field(row.code, first, bits)];
  }
  /// The radius that is left of the block's for this unit, where blocks are longer than units.
  __device__ float root_radius(const RowPlace& row) const {
    const int start = unit_ * kUnitValues;
    float radius = load_half(row.code + 2 * (start >> rows_->tree_levels));
    for (int level = rows_->tree_levels; level > kUnitLevels; --level) {
      const float2 angle = point(row, level, start >> level);
      radius *= (start >> (level - 1) & 1) != 0 ? angle.y : angle.x;
    }
    return radius;
  }

  const RowDescription* rows_;
  int unit_;
  SharedPoints points_;
};

/// PolarTree4.2.2.2, a block a unit: what the compiler knows of it makes this some five times as
/// few instructions as TreeDecoder.
class PaperTreeDecoder {
 public:
  static bool is_for(const RowDescription& rows) {
    return rows.tree_levels == 4 && rows.level_bits[0] == 4 && rows.level_bits[1] == 2 &&
           rows.level_bits[2] == 2 && rows.level_bits[3] == 2;
  }

  __device__ PaperTreeDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : unit_(unit), dim_(rows.dim), points_(points) {
    const int blocks = rows.tree_blocks;
#pragma unroll
    for (int level = 1; level <= kLevels; ++level) table_[level - 1] = rows.level_table[level - 1];
    fine_ = 2 * blocks + 4 * unit;
    second_ = 6 * blocks + unit;
    third_ = 7 * blocks + unit / 2;
    third_shift_ = unit % 2 * 4;
    const int top = 60 * blocks + 2 * unit;
    top_ = top / 8;
    top_shift_ = top % 8;
  }

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    const uint8_t* code = row.code;
    const float radius = load_half(code + 2 * unit_);
    const auto fine = static_cast<uint32_t>(load_bits_before(code + fine_, row.end));
    const uint32_t second = code[second_];
    const uint32_t third = code[third_] >> third_shift_;
    const uint32_t top = code[top_] >> top_shift_;
    float halves[2];
    split(3, top, radius, halves);
    float quarters[4];
#pragma unroll
    for (int j = 0; j < 2; ++j) split(2, third >> (2 * j), halves[j], quarters + 2 * j);
    float eighths[8];
#pragma unroll
    for (int j = 0; j < 4; ++j) split(1, second >> (2 * j), quarters[j], eighths + 2 * j);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 angle = points_[table_[0] + (fine >> (4 * j) & 15)];
      y[2 * j] = eighths[j] * angle.x;
      y[2 * j + 1] = eighths[j] * angle.y;
    }
    clear_behind(dim_, unit_, y);
    return 1;
  }

 private:
  static constexpr int kLevels = 4;

  __device__ void split(int level, uint32_t index, float radius, float* parts) const {
    const float2 angle = points_[table_[level] + (index & 3)];
    parts[0] = radius * angle.x;
    parts[1] = radius * angle.y;
  }

  int unit_;
  int dim_;
  uint32_t table_[kLevels];
  int fine_;  // bytes of a code, and bits of these
  int second_;
  int third_;
  int third_shift_;
  int top_;
  int top_shift_;
  SharedPoints points_;
};

/// Fields of up to 16 bits, one a pair: its angle's index in the low bits, its radius's above.
template <typename Take>
__device__ inline void for_pairs(const uint8_t* code, const uint8_t* end, int unit, int width,
                                 const Take& take) {
  // What 64 bits surely hold, wherever in a byte they begin.
  const int together = width <= 7 ? 8 : width <= 14 ? 4 : 2;
  uint64_t bits = 0;
#pragma unroll
  for (int i = 0; i < kUnitPairs; ++i) {
    if (i % together == 0) {
      const auto first =
          static_cast<uint64_t>(unit * kUnitPairs + i) * static_cast<uint64_t>(width);
      bits = load_bits_before(code + first / 8, end) >> (first % 8);
    }
    take(i, static_cast<uint32_t>(bits) & ((1U << width) - 1));
    bits >>= width;
  }
}

class PairDecoder {
 public:
  __device__ PairDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : dim_(rows.dim),
        unit_(unit),
        angle_bits_(rows.angle_bits),
        width_(rows.angle_bits + rows.radius_bits),
        points_(points) {
#pragma unroll
    for (int i = 0; i < kUnitPairs; ++i) steps_[i] = rows.steps[unit * kUnitPairs + i];
  }

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    for_pairs(row.code, row.end, unit_, width_, [&](int i, uint32_t field) {
      const float2 angle = points_[field & ((1U << angle_bits_) - 1)];
      const float radius = static_cast<float>(field >> angle_bits_) * steps_[i];
      y[2 * i] = radius * angle.x;
      y[2 * i + 1] = radius * angle.y;
    });
    clear_behind(dim_, unit_, y);
    return 1;
  }

 private:
  int dim_;
  int unit_;
  int angle_bits_;
  int width_;
  float steps_[kUnitPairs];
  SharedPoints points_;
};

class GroupDecoder {
 public:
  __device__ GroupDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : dim_(rows.dim),
        unit_(unit),
        angle_bits_(rows.angle_bits),
        width_(rows.angle_bits + rows.radius_bits) {
    (void)points;
  }

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    if (row.group == nullptr) {
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) {
        const int j = unit_ * kUnitValues + i;
        y[i] = j < dim_ ? load_float(row.code + 4 * j) : 0;
      }
      return 1;
    }
    const int pairs = (dim_ + 1) / 2;
    for_pairs(row.code, row.end, unit_, width_, [&](int i, uint32_t field) {
      const int pair = unit_ * kUnitPairs + i;
      y[2 * i] = 0;
      y[2 * i + 1] = 0;
      if (pair >= pairs) return;
      const uint8_t* grid = row.group + pair * kPairParameterBytes;
      const uint32_t index = field & ((1U << angle_bits_) - 1);
      const double angle = fmin(fmax(middle(grid, index), -kLargestAngle), kLargestAngle);
      const double radius = middle(grid + 4, field >> angle_bits_);
      // Within half a turn in double, so that a float's sine is as good as it is there.
      const double turns = rint(angle * kToTurns);
      float sine;
      float cosine;
      sincosf(static_cast<float>(__fma_rn(-turns, kTurn, angle)), &sine, &cosine);
      y[2 * i] = static_cast<float>(radius) * cosine;
      y[2 * i + 1] = static_cast<float>(radius) * sine;
    });
    clear_behind(dim_, unit_, y);
    return 1;
  }

 private:
  static constexpr int kPairParameterBytes = 8;
  static constexpr double kLargestAngle = 1e6;
  static constexpr double kTurn = 6.283185307179586476925;
  static constexpr double kToTurns = 0.159154943091895335769;

  /// Of a cell of the grid, minimum and step as float16.
  __device__ static double middle(const uint8_t* grid, uint32_t index) {
    return static_cast<double>(load_half(grid)) +
           (index + .5) * static_cast<double>(load_half(grid + 2));
  }

  int dim_;
  int unit_;
  int angle_bits_;
  int width_;
};

}  // namespace polarquant::cuda
