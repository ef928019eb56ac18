// SPDX-License-Identifier: MIT
// The keys of pairs of a row and a query of its own. Where a warp has many pairs a lane decodes a
// whole row; where it has few, eight lanes do, one group8 each at a time, so that a warp has four
// pairs at work. A row of 128 dimensions has eight groups8.
#pragma once

#include "cuda/lists_view.h"
#include "cuda/row_key.cuh"
#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {

/// Lanes of a pair, and pairs of a warp, where it has few.
inline constexpr int kPairLanes = 8;
inline constexpr int kWarpPairs = 32 / kPairLanes;

/// `values`: the query's, as ItemsView has them.
__device__ inline int32_t group8_product(const uint32_t words[4], const int8_t* values, int group8,
                                         int32_t sum) {
  const int4 query = *reinterpret_cast<const int4*>(values + group8 * 16);
  sum = __dp4a(static_cast<int>(words[0]), query.x, sum);
  sum = __dp4a(static_cast<int>(words[1]), query.y, sum);
  sum = __dp4a(static_cast<int>(words[2]), query.z, sum);
  return __dp4a(static_cast<int>(words[3]), query.w, sum);
}
/// Σ value·(±1) of a group8's signs.
__device__ inline int32_t group8_sign_product(uint32_t signs, const int8_t* values, int group8,
                                              int32_t sum) {
  uint32_t words[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) words[u] = sign_values(signs, u);
  return group8_product(words, values, group8, sum);
}

/// This lane's part of what a row's score and bounds need, but its sketch's: of the row's groups8
/// it has one of kLanes.
template <bool kTrained, int kLanes>
__device__ RowSums lane_sums(const CodeView& code, const RowBytes& row, const uint32_t* tables,
                             const int8_t* values) {
  const int lane = threadIdx.x % kLanes;
  RowSums sums;
  if constexpr (kTrained) {
    for (int group8 = lane; group8 < code.coded_segments * kGroupsPerSegment; group8 += kLanes) {
      const int segment = group8 / kGroupsPerSegment;
      const SegmentView& view = code.plan[segment];
      const Group8Codes codes =
          load_trained_group8(code, view, row, segment, group8 % kGroupsPerSegment);
      uint32_t words[4];
      decode_trained_group8(view, codes, tables, words);
      if (code.stage_of(segment) == 0) {
        sums.dot[0] = group8_product(words, values, group8, sums.dot[0]);
        if (code.second_stage > 0) sums.squared_norm = add_squares(words, sums.squared_norm);
      } else {
        sums.dot[1] = group8_product(words, values, group8, sums.dot[1]);
      }
      if (code.second_stage == 0 && segment >= code.sketch_words && segment < code.sign_words)
        sums.payload_dot = group8_sign_product(codes.signs, values, group8, sums.payload_dot);
    }
  } else {
#pragma unroll
    for (int s = 0; s < kMaxStages; ++s) {
      if (s >= code.stages) break;
      const StageView& stage = code.stage[s];
      const uint32_t* table = tables + s * 256;
      for (int group8 = lane; group8 < code.segments * kGroupsPerSegment; group8 += kLanes) {
        const int segment = group8 / kGroupsPerSegment;
        const Group8Codes codes =
            load_group8(code, stage, row, segment, group8 % kGroupsPerSegment);
        uint32_t words[4];
        decode_group8(
            stage, codes, [&](uint32_t index) { return table[index]; }, words);
        sums.dot[s] = group8_product(words, values, group8, sums.dot[s]);
        if (s == 0 && segment >= code.sketch_words && segment < code.sign_words)
          sums.payload_dot = group8_sign_product(codes.signs, values, group8, sums.payload_dot);
      }
    }
  }
  return sums;
}

/// The sum over a pair's lanes, for all of them.
__device__ inline int32_t pair_sum(int32_t own) {
#pragma unroll
  for (int distance = 1; distance < kPairLanes; distance *= 2)
    own += __shfl_xor_sync(~0U, own, distance);
  return own;
}

/// What a row's score and bounds need, but its sketch's sums; all lanes of the warp call it, and
/// those of a pair get its sums.
template <bool kTrained>
__device__ RowSums sum_pair(const CodeView& code, const RowBytes& row, const uint32_t* tables,
                            const int8_t* values) {
  RowSums sums = lane_sums<kTrained, kPairLanes>(code, row, tables, values);
  sums.dot[0] = pair_sum(sums.dot[0]);
  if (code.stages == 2) sums.dot[1] = pair_sum(sums.dot[1]);
  if (code.second_stage > 0) {
    sums.squared_norm = pair_sum(sums.squared_norm);
  } else if (code.sign_words > code.sketch_words) {
    sums.payload_dot = pair_sum(sums.payload_dot);
  }
  return sums;
}

/// The key of a row, whose sums are those of sum_pair or sum_own_pair.
template <bool kTrained>
__device__ float pair_key(const CodeView& code, const QueryConstants& query, int64_t row,
                          RowSums sums) {
  const RowBytes bytes = row_bytes(code, row);
  int later = 0;
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w >= code.sketch_words) break;
    const auto word = *reinterpret_cast<const unsigned long long*>(bytes.sketch + 64 * w);
    int distance = word_distance(query, w, word);
    if (kTrained && w == 0) distance += third_bit_distance(query, word);
    sums.distance += distance;
    if (w >= code.first_stage_words) later += distance;
  }
  if (code.second_stage > 0) sums.payload_dot = query.later_weight - 2 * later;
  return key_of(code, query, load_terms(code, row), sums, true);
}

/// A row and a query of its list.
struct Pair {
  int64_t row;
  uint32_t item;  // of all items; its values
};

/// What a lane's own pair needs, but its sketch's sums.
template <bool kTrained>
__device__ RowSums sum_own_pair(const CodeView& code, const uint32_t* tables, const int8_t* values,
                                const Pair& pair) {
  return lane_sums<kTrained, 1>(code, row_bytes(code, pair.row), tables,
                                values + static_cast<size_t>(pair.item) * code.padded_dim());
}

}  // namespace polarquant::cuda
