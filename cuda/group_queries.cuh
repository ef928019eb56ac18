// SPDX-License-Identifier: MIT
// A group of a list's queries in shared memory, and single rows that a warp ranks for some of them.
#pragma once

#include "cuda/lists_view.h"
#include "cuda/row_key.cuh"
#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {

/// Queries side by side.
template <int kItems>
struct GroupQueries {
  QueryConstants constants[kItems];
  Ranked thresholds[kItems];
  float reach[kItems];
  int32_t queries[kItems];
};

/// How many of a group's items take part: the first ones.
__device__ inline uint32_t wanted_items(const ItemGroup& group, bool only_seeds) {
  return only_seeds ? group.seeds : group.count;
}

/// Loads the first `count` items of a group, by all threads of a block, which must wait afterwards.
template <int kItems>
__device__ void load_group(const ItemsView& items, const ItemGroup& group, uint32_t count,
                           const Ranked* thresholds, GroupQueries<kItems>* queries) {
  constexpr int kWords = sizeof(QueryConstants) / sizeof(uint32_t);
  const auto* from = reinterpret_cast<const uint32_t*>(items.constants + group.first_item);
  auto* to = reinterpret_cast<uint32_t*>(queries->constants);
  for (uint32_t i = threadIdx.x; i < count * kWords; i += blockDim.x) to[i] = from[i];
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const int32_t query = items.queries[group.first_item + i];
    const Ranked threshold = thresholds[query];
    queries->queries[i] = query;
    queries->thresholds[i] = threshold;
    queries->reach[i] = similarity_of(threshold);
  }
}

/// Adds a group8's products with each wanted query's values.
template <int kItems>
__device__ void add_group8(const uint32_t words[4], const int8_t* values, int padded_dim,
                           int group8, uint32_t wanted, int32_t sums[kItems]) {
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    const int4 query =
        *reinterpret_cast<const int4*>(values + static_cast<size_t>(i) * padded_dim + group8 * 16);
    sums[i] = __dp4a(static_cast<int>(words[0]), query.x, sums[i]);
    sums[i] = __dp4a(static_cast<int>(words[1]), query.y, sums[i]);
    sums[i] = __dp4a(static_cast<int>(words[2]), query.z, sums[i]);
    sums[i] = __dp4a(static_cast<int>(words[3]), query.w, sums[i]);
  }
}

/// Lane i gets the sum over all lanes for query i.
template <int kItems>
__device__ int32_t deal_sums(const int32_t sums[kItems], uint32_t wanted) {
  int32_t mine = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    const auto sum = static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(sums[i])));
    if (static_cast<int>(threadIdx.x % 32) == i) mine = sum;
  }
  return mine;
}

/// Lane i gets the sums that query i's score and bounds need of a row, except those of its sketch.
/// `values`: the queries', as ItemsView has them.
template <int kItems>
__device__ RowSums sum_plain_for_group(const CodeView& code, const RowBytes& row,
                                       const uint32_t* tables, const int8_t* values,
                                       uint32_t wanted) {
  RowSums mine;
#pragma unroll
  for (int s = 0; s < kMaxStages; ++s) {
    if (s >= code.stages) break;
    const StageView& stage = code.stage[s];
    const uint32_t* table = tables + s * 256;
    int32_t dots[kItems] = {};
    int32_t payloads[kItems] = {};
    for (int group8 = threadIdx.x % 32; group8 < code.segments * kGroupsPerSegment; group8 += 32) {
      const int segment = group8 / kGroupsPerSegment;
      const Group8Codes codes = load_group8(code, stage, row, segment, group8 % kGroupsPerSegment);
      uint32_t words[4];
      decode_group8(
          stage, codes, [&](uint32_t index) { return table[index]; }, words);
      add_group8<kItems>(words, values, code.padded_dim(), group8, wanted, dots);
      if (s == 0 && segment >= code.sketch_words && segment < code.sign_words) {
#pragma unroll
        for (int u = 0; u < 4; ++u) words[u] = sign_values(codes.signs, u);
        add_group8<kItems>(words, values, code.padded_dim(), group8, wanted, payloads);
      }
    }
    mine.dot[s] = deal_sums<kItems>(dots, wanted);
    if (s == 0) mine.payload_dot = deal_sums<kItems>(payloads, wanted);
  }
  return mine;
}

/// The same for trained codes.
template <int kItems>
__device__ RowSums sum_trained_for_group(const CodeView& code, const RowBytes& row,
                                         const uint32_t* tables, const int8_t* values,
                                         uint32_t wanted) {
  int32_t dots[kMaxStages][kItems] = {};
  int32_t payloads[kItems] = {};
  int32_t squares = 0;
  for (int group8 = threadIdx.x % 32; group8 < code.coded_segments * kGroupsPerSegment;
       group8 += 32) {
    const int segment = group8 / kGroupsPerSegment;
    const SegmentView& view = code.plan[segment];
    const Group8Codes codes =
        load_trained_group8(code, view, row, segment, group8 % kGroupsPerSegment);
    uint32_t words[4];
    decode_trained_group8(view, codes, tables, words);
    if (code.stage_of(segment) == 0) {
      add_group8<kItems>(words, values, code.padded_dim(), group8, wanted, dots[0]);
      squares = add_squares(words, squares);
    } else {
      add_group8<kItems>(words, values, code.padded_dim(), group8, wanted, dots[1]);
    }
    if (code.second_stage == 0 && segment >= code.sketch_words && segment < code.sign_words) {
#pragma unroll
      for (int u = 0; u < 4; ++u) words[u] = sign_values(codes.signs, u);
      add_group8<kItems>(words, values, code.padded_dim(), group8, wanted, payloads);
    }
  }
  RowSums mine;
  mine.dot[0] = deal_sums<kItems>(dots[0], wanted);
  if (code.second_stage > 0) {
    mine.dot[1] = deal_sums<kItems>(dots[1], wanted);
    mine.squared_norm =
        static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(squares)));
  } else {
    mine.payload_dot = deal_sums<kItems>(payloads, wanted);
  }
  return mine;
}

template <int kItems, bool kTrained>
__device__ RowSums sum_for_group(const CodeView& code, const RowBytes& row, const uint32_t* tables,
                                 const int8_t* values, uint32_t wanted) {
  if constexpr (kTrained) {
    return sum_trained_for_group<kItems>(code, row, tables, values, wanted);
  } else {
    return sum_plain_for_group<kItems>(code, row, tables, values, wanted);
  }
}

template <bool kTrained>
__device__ inline int sketch_distance(const CodeView& code, const QueryConstants& query,
                                      const uint64_t* words) {
  int distance = 0;
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w < code.sketch_words) distance += word_distance(query, w, words[w]);
  }
  if constexpr (kTrained) distance += third_bit_distance(query, words[0]);
  return distance;
}
/// Sets the sums of a row's sketch.
template <bool kTrained>
__device__ inline void sum_sketch(const CodeView& code, const QueryConstants& query,
                                  const uint64_t* words, RowSums* sums) {
  sums->distance = sketch_distance<kTrained>(code, query, words);
  if (!kTrained || code.second_stage == 0) return;
  int later = 0;
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w < code.sketch_words && w >= code.first_stage_words)
      later += word_distance(query, w, words[w]);
  }
  sums->payload_dot = query.later_weight - 2 * later;
}
__device__ inline void load_sketch_words(const CodeView& code, const RowBytes& row,
                                         uint64_t words[kMaxSketchWords]) {
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w < code.sketch_words)
      words[w] = *reinterpret_cast<const unsigned long long*>(row.sketch + 64 * w);
  }
}

/// Σ value·(±1) over a row's sign words after its sketch, by a warp. `values`: those of one query.
__device__ inline int32_t sum_payload_signs(const CodeView& code, const RowBytes& row,
                                            const int8_t* values) {
  int32_t sum = 0;
  const int end = code.sign_words * kGroupsPerSegment;
  for (int group8 = code.sketch_words * kGroupsPerSegment + threadIdx.x % 32; group8 < end;
       group8 += 32) {
    const uint32_t signs = group8_signs(code, code.stage[0], row, group8 / kGroupsPerSegment,
                                        group8 % kGroupsPerSegment);
    uint32_t words[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) words[u] = sign_values(signs, u);
    add_group8<1>(words, values, code.padded_dim(), group8, 1, &sum);
  }
  return static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(sum)));
}

/// The first of two stages' Σ value·value of a row, by a warp; 0 where there is one stage.
__device__ inline int32_t first_dot(const CodeView& code, const int8_t* values, int64_t row) {
  if (code.stages != 2) return 0;
  const RowBytes bytes = row_bytes(code, row);
  const uint32_t* table = code.tables;
  int32_t sum = 0;
  for (int group8 = threadIdx.x % 32; group8 < code.segments * kGroupsPerSegment; group8 += 32) {
    uint32_t words[4];
    decode_group8(
        code.stage[0],
        load_group8(code, code.stage[0], bytes, group8 / kGroupsPerSegment,
                    group8 % kGroupsPerSegment),
        [&](uint32_t index) { return table[index]; }, words);
    add_group8<1>(words, values, code.padded_dim(), group8, 1, &sum);
  }
  return static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(sum)));
}

/// What least_bound needs of a trained code's row, for all lanes. A call, since tiles ask for it in
/// many places.
__device__ __noinline__ inline RowSums trained_bound_sums(const CodeView& code,
                                                          const int8_t* values, int64_t row) {
  RowSums sums = sum_trained_for_group<1>(code, row_bytes(code, row), code.tables, values, 1);
  // The first lane has them.
  sums.dot[0] = __shfl_sync(~0U, sums.dot[0], 0);
  sums.payload_dot = __shfl_sync(~0U, sums.payload_dot, 0);
  return sums;
}

/// The least of a row's score and its bounds for one query, by a warp: `bounded_score` of
/// src/scan/model/scan_query.h. `values`: the query's. `first`: for untrained codes, first_dot.
template <bool kTrained>
__device__ inline float least_bound(const CodeView& code, const QueryConstants& query,
                                    const int8_t* values, int64_t row, float score, int32_t first) {
  const RowBytes bytes = row_bytes(code, row);
  RowSums sums;
  if constexpr (kTrained) {
    sums = trained_bound_sums(code, values, row);
  } else {
    sums.dot[0] = first;
    sums.payload_dot = sum_payload_signs(code, bytes, values);
  }
  uint64_t words[kMaxSketchWords] = {};
  load_sketch_words(code, bytes, words);
  sum_sketch<kTrained>(code, query, words, &sums);
  return least_of_bounds(code, query, load_terms(code, row), sums, score);
}

}  // namespace polarquant::cuda
