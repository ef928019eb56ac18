// SPDX-License-Identifier: MIT
// Lists of the rows that the first stage finds in blocks, made from masks.
#if defined(POLARQUANT_ROWS_OF_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROWS_OF_BLOCKS_INL_H_
#undef POLARQUANT_ROWS_OF_BLOCKS_INL_H_
#else
#define POLARQUANT_ROWS_OF_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#include "src/scan/kernels/sketch/sketch_candidates.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// The first stage's distances and bounds of a block's rows, written as whole registers.
struct BlockDistances {
  alignas(64) uint32_t distances[kBlockRows + kGroupRows];
  alignas(64) float bounds[kBlockRows + kGroupRows];
};

/// Adds rows to a list, block by block. Those of a block are read, as single numbers, while the
/// next block is computed: by then they have been written, and single numbers are read while
/// registers are busy with rows (docs/dev/tuning.md, "Kernels").
class RowsOfBlocks {
 public:
  HWY_INLINE explicit RowsOfBlocks(CandidateList* found)
      : found_(found),
        candidates_(found->candidates + found->count),
        bounds_(found->bounds + found->count) {}

  /// Where the rows of the current block are written.
  HWY_INLINE BlockDistances* computed() { return &computed_[at_hand_]; }
  /// `reached`: the rows that are candidates, in the block just written, which begins with row
  /// `first` of the tile.
  HWY_INLINE void add(uint32_t first, uint64_t reached) {
    take_waiting();
    waiting_ = reached;
    first_ = first;
    at_hand_ ^= 1;
  }
  /// Call it once, after the last block.
  HWY_INLINE void finish() {
    take_waiting();
    found_->count = static_cast<int>(candidates_ - found_->candidates);
  }

 private:
  /// How many of a block's rows stay is not predictable: so many are taken, and counted if real.
  static constexpr int kAlwaysTaken = 2;
  static_assert(kAlwaysTaken <= kListPadding);

  HWY_INLINE void take(const BlockDistances& rows, int place) {
    const int row = std::countr_zero(waiting_ | uint64_t{1} << (kBlockRows - 1));
    candidates_[place] =
        candidate_of(first_ + static_cast<uint32_t>(row), static_cast<int>(rows.distances[row]));
    bounds_[place] = rows.bounds[row];
    waiting_ &= waiting_ - 1;
  }
  HWY_ATTR HWY_INLINE void take_waiting() {
    const BlockDistances& rows = computed_[at_hand_ ^ 1];
    const int count = std::popcount(waiting_);
#pragma GCC unroll 2
    for (int place = 0; place < kAlwaysTaken; ++place) take(rows, place);
    for (int place = kAlwaysTaken; place < count; ++place) take(rows, place);
    candidates_ += count;
    bounds_ += count;
  }

  CandidateList* found_;
  uint32_t* candidates_;
  float* bounds_;
  uint64_t waiting_ = 0;
  uint32_t first_ = 0;
  unsigned at_hand_ = 0;
  BlockDistances computed_[2] = {};
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
