// SPDX-License-Identifier: MIT
// Ranks a row by the sums of its codes.
#pragma once

#include "cuda/group8_decode.cuh"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {

__device__ inline RowBytes row_bytes(const CodeView& code, int64_t row) {
  const int in_block = static_cast<int>(row % kBlockRows);
  const uint8_t* sketch = block_sketch(code, row / kBlockRows);
  return {sketch + (in_block / 8 * code.sketch_words * 8 + in_block % 8) * 8,
          code.payloads + row * code.payload_bytes};
}

/// Words of ±1 for a group8's signs: 1 and −1 in the places of a table's x, −x, y, −y.
__device__ inline uint32_t sign_values(uint32_t signs, int u) {
  return __byte_perm(0xff01ff01U, 0xff01ff01U, signed_selector(signs, u));
}

struct RowSums {
  int32_t dot[kMaxStages] = {0, 0};
  int32_t distance = 0;  // of the sketch
  /// SignSums::other_sum: of the signs after the sketch; for split stages, of the sketch's words
  /// after the first one.
  int32_t payload_dot = 0;
  int32_t squared_norm = 0;  // for split stages: Σ value² of the first one
};

/// The distance that one of the sketch's words adds.
__device__ inline int word_distance(const QueryConstants& query, int word, uint64_t signs) {
  const uint64_t differ = signs ^ query.sign_words[word];
  return __popcll(differ & query.ones_words[word]) + 2 * __popcll(differ & query.twos_words[word]);
}
/// What the third bit of a trained code's first word adds.
__device__ inline int third_bit_distance(const QueryConstants& query, uint64_t signs) {
  return 4 * __popcll((signs ^ query.sign_words[0]) & query.fours_word);
}

/// `bounded_score` of src/scan/model/scan_query.h.
__device__ inline float least_of_bounds(const CodeView& code, const QueryConstants& query,
                                        const RowTerms& terms, const RowSums& sums, float score) {
  float least = fminf(score, sketch_bound(query, terms, sums.distance));
  least = fminf(least, sign_bound(query, terms, sums.distance, sums.payload_dot));
  if (code.second_stage > 0) {
    const float squared_norm =
        query.first_squared_norm_slope * static_cast<float>(sums.squared_norm);
    least =
        fminf(least, first_stage_bound(query, terms, sums.dot[0], sums.payload_dot, squared_norm));
  } else if (code.stages == 2) {
    least =
        fminf(least, dot_bound(query, query.first_slope, query.first_margin, terms, sums.dot[0]));
  }
  return least;
}

/// The number by which rows are ranked.
__device__ inline float key_of(const CodeView& code, const QueryConstants& query,
                               const RowTerms& terms, const RowSums& sums, bool bounded) {
  const bool two_stages = code.stages == 2;
  const float score = two_stages ? similarity(query, terms, sums.dot[0], sums.dot[1])
                                 : similarity(query, terms, sums.dot[0]);
  if (!bounded || isnan(score)) return score;
  return least_of_bounds(code, query, terms, sums, score);
}

}  // namespace polarquant::cuda
