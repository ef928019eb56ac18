// SPDX-License-Identifier: MIT
// A query as scans of one codec use it: levels, signs and the constants of score and bounds, and
// the plain definitions of score and bounds, which every kernel computes by the same float
// operations in the same order, so that results are the same to the bit on every machine.
//
// Everything is in "goodness", higher is nearer: the score itself for inner product and cosine,
// minus the squared distance for L2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/scan_codec.h"

namespace polarquant {

/// goodness = base + weight·constant + scale·(dot_scale[0]·dot₀ + dot_scale[1]·dot₁).
struct ScoreConstants {
  float base = 0;
  float weight = 0;
  float dot_scale[2] = {0, 0};
};

/// bound by the Hamming distance h of the signs, for a row of terms t:
///   base + weight·constant + norm·B(m), B(m) = m·(slope − bend·max(m, 0)²), m = min(reach − h,
///   half),
/// where norm·B(m) stands for ‖q'‖‖x−c‖·sin(π(½ − h/dim) + z·π/(2√dim)): sin t ≈ t − .1473·t³ is
/// exact at 0 and π/2 and at most .014 above between; below 0, t itself keeps B concave.
struct HammingBound {
  float reach = 0;  // dim/2 + z·√dim/2
  float half = 0;   // dim/2
  float slope = 0;
  float bend = 0;
};

/// bound by a dot product of levels: base + weight·constant + norm·(slope·dot + margin).
struct DotBound {
  float slope = 0;
  float margin = 0;
};

struct ScanQuery {
  AlignedVector<uint64_t> sign_words;  // (sign_words), empty without a sign plane
  AlignedVector<int8_t> levels;  // (lanes), −127 to 127: for the signs, and scores unless wide
  AlignedVector<uint8_t> biased_levels;  // level + 128
  AlignedVector<int16_t> wide_levels;    // (lanes) for scores, where the codec's levels are wide
  int32_t level_sum = 0;                 // Σ levels
  ScoreConstants score;
  HammingBound hamming;
  DotBound signs;        // by Σ level·(±1), the signs of the row
  DotBound first_stage;  // by the first of two stages' Σ level·level
};

/// `exactness` is z ≥ 0; large ones, and +inf, are taken as one that leaves no row out.
ScanQuery make_scan_query(const ScanCodec& codec, const PreparedQuery& query, float exactness);

inline float goodness(const ScoreConstants& score, const ScanTerms& row, int32_t dot) {
  return score.base + score.weight * row.constant +
         row.scale * (score.dot_scale[0] * static_cast<float>(dot));
}
inline float goodness(const ScoreConstants& score, const ScanTerms& row, int32_t dot0,
                      int32_t dot1) {
  return score.base + score.weight * row.constant +
         row.scale * (score.dot_scale[0] * static_cast<float>(dot0) +
                      score.dot_scale[1] * static_cast<float>(dot1));
}
inline float hamming_bound(const ScanQuery& query, const ScanTerms& row, int distance) {
  const HammingBound& bound = query.hamming;
  const float m = std::min(bound.reach - static_cast<float>(distance), bound.half);
  const float bent = std::max(m, 0.0F);
  return query.score.base + query.score.weight * row.constant +
         row.norm * (m * (bound.slope - bound.bend * (bent * bent)));
}
inline float dot_bound(const ScoreConstants& score, const DotBound& bound, const ScanTerms& row,
                       int32_t dot) {
  return score.base + score.weight * row.constant +
         row.norm * (bound.slope * static_cast<float>(dot) + bound.margin);
}

}  // namespace polarquant
