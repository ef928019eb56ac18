// SPDX-License-Identifier: MIT
// A query for scans of one codec: values, signs and the constants of score and bounds. Here are the
// plain definitions of score and bounds, which every kernel computes by the same float operations
// in the same order, so that results are the same to the bit on every machine.
//
// Everything is a "similarity", higher is nearer: the score itself for inner product and cosine,
// minus the squared distance for L2.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/model/scan_codec.h"
#include "src/simd/sign_words.h"

namespace polarquant {

/// similarity = base + weight·constant + scale·(dot_scale[0]·dot₀ + dot_scale[1]·dot₁).
struct ScoreConstants {
  float base = 0;
  float weight = 0;
  float dot_scale[2] = {0, 0};
  friend bool operator==(const ScoreConstants&, const ScoreConstants&) = default;
};

/// bound by a dot product of values: base + weight·constant + norm·(slope·dot + margin).
struct DotBound {
  float slope = 0;
  float margin = 0;
  friend bool operator==(const DotBound&, const DotBound&) = default;
};

/// bound by two sums: base + weight·constant + norm·(slope·sum + other_slope·other_sum + margin −
/// squared_norm_slope·squared_norm). The other sum is that of SignSums.
struct SumBound {
  float slope = 0;
  float other_slope = 0;
  float margin = 0;
  float squared_norm_slope = 0;  // 0 but for the first of split stages
  friend bool operator==(const SumBound&, const SumBound&) = default;
};

/// How far a score by values may lie below Codec::score of the same row. A range search adds it, so
/// that every row within its radius is scored by floats too. docs/dev/bounds.md derives it.
struct ScoreErrorBound {
  float per_scale = 0;  // of values, times the row's scale
  float per_term = 0;   // of float sums, times |base| + |weight·constant|

  float at(const ScoreConstants& score, float scale, float constant) const {
    if (per_scale == 0) return 0;
    return per_scale * scale +
           per_term * (std::fabs(score.base) + std::fabs(score.weight * constant));
  }
  friend bool operator==(const ScoreErrorBound&, const ScoreErrorBound&) = default;
};

struct ScanQuery {
  /// For each coordinate of the sketch: the sign of its value and, bit by bit, its weight. A row
  /// whose sign differs is further away by the weight. The first sketch_words are set. Where the
  /// first word has a third bit, no coordinate has its bit in the twos of two other words, so that
  /// one count of bits serves them all.
  std::array<uint64_t, kMaxSketchWords> sign_words{};
  std::array<uint64_t, kMaxSketchWords> ones_words{};
  std::array<uint64_t, kMaxSketchWords> twos_words{};
  size_t sketch_words = 0;
  /// The third bit of the first word's weights, for codes that have one
  /// (ScanCodec::has_third_bit()).
  uint64_t fours_word = 0;
  int32_t sketch_weight = 0;     // Σ weight
  AlignedVector<int8_t> values;  // (padded_dim), −127 to 127
  std::vector<SignWord> words;   // (padded_dim/64), of values: the numbers below are made of them
  int32_t sign_int8_sum = 0;     // Σ values of the sign words after the sketch
  int32_t later_weight = 0;      // for split stages: Σ weights of the sketch after the first one
  ScoreConstants score;
  ScoreErrorBound error_bound;  // 0 in a search for the k best
  DotBound sketch;              // by Σ ±weight over the sketch: sketch_weight − 2·distance
  /// For codes about centroids: of rows about each, score.base, which is also score.weight for
  /// inner product and cosine; then how far a score may lie above these for each of a row's scale.
  AlignedVector<float> centroid_bases;
  bool weighs_by_base = false;
  float largest_base = 0;  // of their magnitudes
  float centroid_radius = 0;
  SumBound signs;        // by the sketch's Σ ±w and the other sum; not for split stages
  SumBound first_stage;  // by the first of two stages' Σ value·value, and the other sum

  /// The constants of a row's score.
  ScoreConstants score_of(const ScanTerms& row) const {
    if (centroid_bases.empty()) return score;
    const float base = centroid_bases[static_cast<size_t>(row.centroid())];
    return {base, weighs_by_base ? base : 1.0F, {score.dot_scale[0], score.dot_scale[1]}};
  }
  friend bool operator==(const ScanQuery&, const ScanQuery&) = default;
};

/// `exactness` is z ≥ 0; large ones, and +inf, count as one that leaves no row out.
ScanQuery make_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness);
/// The same into a query made before, maybe for another codec, whose memory is used again.
void set_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness,
                    ScanQuery* scan);
/// Of a codec with centroids: ⟨q, C⟩, or −‖q−C‖², for each centroid C, from −‖q−C‖² and ‖q‖², q as
/// the metric sees it.
void set_centroid_bases(const ScanCodec& codec, const float* similarities, float query_norm2,
                        ScanQuery* scan);
/// The error_bound of a range search by `scan`, made of `query`.
ScoreErrorBound make_score_error_bound(const ScanCodec& codec, const PreparedQuery& query,
                                       const ScanQuery& scan);

/// The distance that a word of the sketch adds; `differ`: the signs that differ.
inline int32_t word_distance(uint64_t differ, uint64_t ones, uint64_t twos) {
  return std::popcount(differ & ones) + 2 * std::popcount(differ & twos);
}
inline int32_t word_distance(const ScanQuery& query, size_t word, uint64_t differ) {
  const uint64_t fours = word == 0 ? query.fours_word : 0;
  return word_distance(differ, query.ones_words[word], query.twos_words[word]) +
         4 * std::popcount(differ & fours);
}

inline float similarity(const ScoreConstants& score, const ScanTerms& row, int32_t dot) {
  return score.base + score.weight * row.constant +
         row.scale * (score.dot_scale[0] * static_cast<float>(dot));
}
inline float similarity(const ScoreConstants& score, const ScanTerms& row, int32_t dot0,
                        int32_t dot1) {
  return score.base + score.weight * row.constant +
         row.scale * (score.dot_scale[0] * static_cast<float>(dot0) +
                      score.dot_scale[1] * static_cast<float>(dot1));
}
/// A row's order in a search without bounds: its score by values with the query's error_bound.
inline float with_error_bound(const ScanQuery& query, const ScanTerms& row, float score) {
  return score + query.error_bound.at(query.score_of(row), row.scale, row.constant);
}
/// Of a row about a centroid.
inline float centroid_bound(const ScanQuery& query, const ScanTerms& row) {
  const ScoreConstants score = query.score_of(row);
  return score.base + score.weight * row.constant + row.scale * query.centroid_radius;
}
inline float dot_bound(const ScoreConstants& score, const DotBound& bound, const ScanTerms& row,
                       int32_t dot) {
  return score.base + score.weight * row.constant +
         row.norm * (bound.slope * static_cast<float>(dot) + bound.margin);
}
/// By a sketch_distance().
inline float sketch_bound(const ScanQuery& query, const ScanTerms& row, int distance) {
  return dot_bound(query.score, query.sketch, row, query.sketch_weight - 2 * distance);
}

/// The numbers that the stages of signs read from a row.
struct SignSums {
  int32_t distance = 0;  // of the sketch
  /// Σ value·(±1) over the sign words after the sketch; for split stages Σ weight·(±1) over the
  /// sketch's words after the first stage.
  int32_t other_sum = 0;
};
/// The other sum of split stages, by the distance of the sketch's words after the first stage.
inline int32_t sum_after_first_stage(int32_t later_weight, int32_t distance) {
  return later_weight - 2 * distance;
}
inline float sum_bound(const ScoreConstants& score, const SumBound& bound, const ScanTerms& row,
                       int32_t sum, int32_t other_sum) {
  return score.base + score.weight * row.constant +
         row.norm * (bound.slope * static_cast<float>(sum) +
                     bound.other_slope * static_cast<float>(other_sum) + bound.margin -
                     bound.squared_norm_slope * row.squared_norm);
}
inline float sign_bound(const ScanQuery& query, const ScanTerms& row, const SignSums& sums) {
  return sum_bound(query.score, query.signs, row, query.sketch_weight - 2 * sums.distance,
                   sums.other_sum);
}
inline float first_stage_bound(const ScanQuery& query, const ScanTerms& row, int32_t first_dot,
                               const SignSums& sums) {
  return sum_bound(query.score, query.first_stage, row, first_dot, sums.other_sum);
}
/// The least of score and bounds: what a search at finite exactness orders rows by. `first_dot` is
/// the first of two stages' Σ value·value.
inline float bounded_score(const ScanQuery& query, const ScanTerms& row, float score,
                           const SignSums& signs, bool two_stages, int32_t first_dot) {
  if (!query.centroid_bases.empty()) return std::min(score, centroid_bound(query, row));
  float least = std::min(score, sketch_bound(query, row, signs.distance));
  least = std::min(least, sign_bound(query, row, signs));
  if (two_stages) least = std::min(least, first_stage_bound(query, row, first_dot, signs));
  return least;
}

}  // namespace polarquant
