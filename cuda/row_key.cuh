// SPDX-License-Identifier: MIT
// What a row is ranked by, from the sums of its codes.
#pragma once

#include "cuda/octet_decode.cuh"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {

__device__ inline RowBytes row_bytes(const CodeView& code, int64_t row) {
  const int in_block = static_cast<int>(row % kBlockRows);
  const uint8_t* front = block_front(code, row / kBlockRows);
  return {front + (in_block / 8 * code.front_words * 8 + in_block % 8) * 8,
          code.rests + row * code.rest_bytes};
}

/// Words of ±1 for an octet's signs: 1 and −1 in the places of a table's x, −x, y, −y.
__device__ inline uint32_t sign_levels(uint32_t signs, int u) {
  return __byte_perm(0xff01ff01U, 0xff01ff01U, signed_selector(signs, u));
}

struct RowSums {
  int32_t dot[kMaxStages] = {0, 0};
  int32_t distance = 0;  // of the front
  int32_t rest_dot = 0;  // of the signs behind it
};

/// What one of the front's words adds to the distance.
__device__ inline int word_distance(const QueryConstants& query, int word, uint64_t signs) {
  const uint64_t differ = signs ^ query.sign_words[word];
  return __popcll(differ & query.ones_words[word]) + 2 * __popcll(differ & query.twos_words[word]);
}

/// `bounded_score` of src/scan/model/scan_query.h.
__device__ inline float least_of_bounds(const CodeView& code, const QueryConstants& query,
                                        const RowTerms& terms, const RowSums& sums, float score) {
  float least = fminf(score, front_bound(query, terms, sums.distance));
  least = fminf(least, sign_bound(query, terms, sums.distance, sums.rest_dot));
  if (code.stages == 2)
    least =
        fminf(least, dot_bound(query, query.first_slope, query.first_margin, terms, sums.dot[0]));
  return least;
}

/// What rows are ranked by.
__device__ inline float key_of(const CodeView& code, const QueryConstants& query,
                               const RowTerms& terms, const RowSums& sums, bool bounded) {
  const bool two_stages = code.stages == 2;
  const float score = two_stages ? goodness(query, terms, sums.dot[0], sums.dot[1])
                                 : goodness(query, terms, sums.dot[0]);
  if (!bounded || isnan(score)) return score;
  return least_of_bounds(code, query, terms, sums, score);
}

}  // namespace polarquant::cuda
