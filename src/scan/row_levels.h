// SPDX-License-Identifier: MIT
// Reading a row of a block in plain code: its score terms, its Hamming distance, its levels. The
// truth that the kernels are tested against.
#pragma once

#include <bit>
#include <cstdint>

#include "src/scan/scan_query.h"

namespace polarquant {

inline uint64_t sign_word(const BlockLayout& layout, const RowPlace& at, int word) {
  const auto* words = reinterpret_cast<const uint64_t*>(at.front);
  return words[(static_cast<size_t>(at.row / kGroupRows) * layout.sign_words() + word) *
                   kGroupRows +
               at.row % kGroupRows];
}
inline const uint8_t* row_rest(const BlockLayout& layout, const RowPlace& at) {
  return at.rest + static_cast<size_t>(at.row) * layout.rest_bytes();
}

ScanTerms load_terms(const ScanCodec& codec, const RowPlace& at);
int hamming_distance(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// Σ level·(−1)^sign over the lanes.
int32_t sign_dot(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// The levels of one stage, signs applied, in lanes order; lanes beyond the pairs have any value.
void decode_levels(const ScanCodec& codec, const LevelStage& stage, const RowPlace& at,
                   int16_t* levels);
int32_t level_dot(const ScanCodec& codec, const ScanQuery& query, const int16_t* levels);

/// What a search at finite exactness orders rows by: the least of score and bounds. With `bounded`
/// false, the score alone.
struct RowScore {
  float score = 0;
  float key = 0;
};
RowScore score_row(const ScanCodec& codec, const ScanQuery& query, bool bounded,
                   const RowPlace& at);

}  // namespace polarquant
