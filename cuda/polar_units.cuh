// SPDX-License-Identifier: MIT
// The published polar codecs' units: radii split by cosine and sine of looked-up angles. Products
// are those of src/codec in their order, but for PolarPair…g128, whose angles are floats here.
#pragma once

#include "cuda/row_units.cuh"

namespace polarquant::cuda {

/// PolarTree4.2.2.2.
inline constexpr int kPaperLevels = 4;
inline constexpr int kPaperBits[kPaperLevels] = {4, 2, 2, 2};
inline constexpr int kPaperTables[kPaperLevels] = {0, 16, 20, 24};
inline bool is_paper_tree(const RowDescription& rows) {
  if (rows.tree_levels != kPaperLevels) return false;
  for (int i = 0; i < kPaperLevels; ++i) {
    if (rows.level_bits[i] != kPaperBits[i] ||
        rows.level_table[i] != static_cast<uint32_t>(kPaperTables[i]))
      return false;
  }
  return true;
}

/// Four levels of a tree, with any levels above.
class TreeDecoder {
 public:
  static constexpr bool kGrouped = false;
  static constexpr bool kCopies = true;
  static constexpr bool kFactors = false;

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
          y[j] = first + j < rows_->tree_blocks
                     ? load_short_float(rows_->wide_floats != 0, row.code + 2 * (first + j))
                     : 0;
      }
      const int there = rows_->tree_blocks << (levels - level);
      // From the last node on, so that each is read before it is overwritten.
#pragma unroll
      for (int j = nodes - 1; j >= 0; --j) {
        const float radius = y[j];
        const float2 angle = first + j < there ? point(row, level, first + j) : float2{0, 0};
        y[2 * j] = radius * angle.x;
        y[2 * j + 1] = radius * angle.y;
      }
    }
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
  /// The radius of the block that is left for this unit, where blocks are longer than units.
  __device__ float root_radius(const RowPlace& row) const {
    const int start = unit_ * kUnitValues;
    float radius =
        load_short_float(rows_->wide_floats != 0, row.code + 2 * (start >> rows_->tree_levels));
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

/// Keeps a value in a register: otherwise the compiler computes it again for every row.
__device__ inline void keep(int& value) { asm volatile("" : "+r"(value)); }

/// PolarTree4.2.2.2, one block a unit: the compiler knows all places. Its tables are so small that
/// lanes never wait for each other: all entries of one are in different banks. kEven: all rows
/// begin at even addresses.
template <bool kEven>
class PaperTreeDecoder {
 public:
  static constexpr bool kGrouped = false;
  static constexpr bool kCopies = false;
  static constexpr bool kFactors = false;

  __device__ PaperTreeDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : table_(static_cast<int>(points.address())),
        radius_(2 * unit),
        wide_floats_(rows.wide_floats != 0) {
    const int blocks = rows.tree_blocks;
    fine_ = 2 * blocks + 4 * unit;
    second_ = 6 * blocks + unit;
    third_ = 7 * blocks + unit / 2;
    third_shift_ = unit % 2 * 4;
    const int top = 60 * blocks + 2 * unit;
    top_ = top / 8;
    top_shift_ = top % 8;
    for (int* value :
         {&table_, &radius_, &fine_, &second_, &third_, &third_shift_, &top_, &top_shift_})
      keep(*value);
  }

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    const uint8_t* code = row.code;
    const float radius = short_float(wide_floats_, two_bytes(code + radius_));
    const uint8_t* at = code + fine_;
    const uint32_t fine = two_bytes(at) | two_bytes(at + 2) << 16;
    const uint32_t second = code[second_];
    const uint32_t third = static_cast<uint32_t>(code[third_]) >> third_shift_;
    const uint32_t top = static_cast<uint32_t>(code[top_]) >> top_shift_;
    float halves[2];
    split<3, 0>(top, radius, halves);
    float quarters[4];
    split<2, 0>(third, halves[0], quarters);
    split<2, 1>(third, halves[1], quarters + 2);
    float eighths[8];
    split<1, 0>(second, quarters[0], eighths);
    split<1, 1>(second, quarters[1], eighths + 2);
    split<1, 2>(second, quarters[2], eighths + 4);
    split<1, 3>(second, quarters[3], eighths + 6);
    split<0, 0>(fine, eighths[0], y);
    split<0, 1>(fine, eighths[1], y + 2);
    split<0, 2>(fine, eighths[2], y + 4);
    split<0, 3>(fine, eighths[3], y + 6);
    split<0, 4>(fine, eighths[4], y + 8);
    split<0, 5>(fine, eighths[5], y + 10);
    split<0, 6>(fine, eighths[6], y + 12);
    split<0, 7>(fine, eighths[7], y + 14);
    return 1;
  }

 private:
  static constexpr int kEntryShift = 3;  // of a table's entry in bytes, to log2

  __device__ static uint32_t two_bytes(const uint8_t* from) {
    if constexpr (kEven) {
      return *reinterpret_cast<const uint16_t*>(from);
    } else {
      return from[0] | static_cast<uint32_t>(from[1]) << 8;
    }
  }

  /// By index number kNumber of a level.
  template <int kLevel, int kNumber>
  __device__ void split(uint32_t indices, float radius, float* parts) const {
    constexpr int kFirst = kNumber * kPaperBits[kLevel];
    constexpr uint32_t kMask = ((1U << kPaperBits[kLevel]) - 1) << kEntryShift;
    // Shifted to its place in an address, whose bits below are 0.
    uint32_t entry = kFirst >= kEntryShift
                         ? indices >> (kFirst >= kEntryShift ? kFirst - kEntryShift : 0)
                         : indices << (kFirst >= kEntryShift ? 0 : kEntryShift - kFirst);
    entry = (entry & kMask) | static_cast<uint32_t>(table_);
    float x;
    float y;
    asm("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
        : "=f"(x), "=f"(y)
        : "r"(entry), "n"(kPaperTables[kLevel] << kEntryShift));
    parts[0] = radius * x;
    parts[1] = radius * y;
  }

  int table_;   // its address in shared memory, on a boundary of 128 bytes
  int radius_;  // bytes of a code, and bits of these
  int fine_;
  int second_;
  int third_;
  int third_shift_;
  int top_;
  int top_shift_;
  bool wide_floats_;
};

/// Fields of up to 16 bits, one a pair: its angle's index in the low bits, its radius's above.
/// kNarrow: of up to 8 bits.
template <bool kNarrow, typename Take>
__device__ inline void for_pairs(const uint8_t* code, const uint8_t* end, int unit, int width,
                                 const Take& take) {
  // As many as 64 bits surely hold: eight fields begin on a byte's first bit.
  const int together = kNarrow ? 8 : width <= 14 ? 4 : 2;
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

/// kNarrow: angle and radius of a pair take up to 8 bits.
template <bool kNarrow>
class PairDecoder {
 public:
  static constexpr bool kGrouped = false;
  static constexpr bool kCopies = true;
  static constexpr bool kFactors = false;

  __device__ PairDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : unit_(unit),
        angle_bits_(rows.angle_bits),
        width_(rows.angle_bits + rows.radius_bits),
        points_(points) {
#pragma unroll
    for (int i = 0; i < kUnitPairs; ++i) steps_[i] = rows.steps[unit * kUnitPairs + i];
  }

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    for_pairs<kNarrow>(row.code, row.end, unit_, width_, [&](int i, uint32_t field) {
      const float2 angle = points_[field & ((1U << angle_bits_) - 1)];
      const float radius = small_float(field >> angle_bits_) * steps_[i];
      y[2 * i] = radius * angle.x;
      y[2 * i + 1] = radius * angle.y;
    });
    return 1;
  }

 private:
  int unit_;
  int angle_bits_;
  int width_;
  float steps_[kUnitPairs];
  SharedPoints points_;
};

class GroupDecoder {
 public:
  static constexpr bool kGrouped = true;
  static constexpr bool kCopies = false;
  static constexpr bool kFactors = false;

  __device__ GroupDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : dim_(rows.dim),
        unit_(unit),
        angle_bits_(rows.angle_bits),
        width_(rows.angle_bits + rows.radius_bits),
        wide_floats_(rows.wide_floats != 0) {
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
    for_pairs<false>(row.code, row.end, unit_, width_, [&](int i, uint32_t field) {
      const int pair = unit_ * kUnitPairs + i;
      y[2 * i] = 0;
      y[2 * i + 1] = 0;
      if (pair >= pairs) return;
      const uint8_t* grid = row.group + pair * kPairParameterBytes;
      const uint32_t index = field & ((1U << angle_bits_) - 1);
      const double angle = fmin(fmax(middle(false, grid, index), -kLargestAngle), kLargestAngle);
      const double radius = middle(wide_floats_, grid + 4, field >> angle_bits_);
      // Reduced to half a turn in double, so that a float's sine is as good as there.
      const double turns = rint(angle * kToTurns);
      float sine;
      float cosine;
      sincosf(static_cast<float>(__fma_rn(-turns, kTurn, angle)), &sine, &cosine);
      y[2 * i] = static_cast<float>(radius) * cosine;
      y[2 * i + 1] = static_cast<float>(radius) * sine;
    });
    return 1;
  }

 private:
  static constexpr int kPairParameterBytes = 8;
  static constexpr double kLargestAngle = 1e6;
  static constexpr double kTurn = 6.283185307179586476925;
  static constexpr double kToTurns = 0.159154943091895335769;

  /// The middle of a cell of the grid, whose minimum and step are 16-bit floats; those of angles
  /// are always float16.
  __device__ static double middle(bool wide, const uint8_t* grid, uint32_t index) {
    return static_cast<double>(load_short_float(wide, grid)) +
           (index + .5) * static_cast<double>(load_short_float(wide, grid + 2));
  }

  int dim_;
  int unit_;
  int angle_bits_;
  int width_;
  bool wide_floats_;
};

}  // namespace polarquant::cuda
