// SPDX-License-Identifier: MIT
// Scores of the few rows that queries select from some blocks, whose values they share.
#pragma once

#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// What is read of a shared row beside its values.
struct alignas(64) SharedTerms {
  /// For split stages, those of the sketch after the first stage, which its bound needs; kernels
  /// read two at a time.
  uint64_t words[kMaxSketchWords];
  alignas(16) ScanTerms terms;
};

/// Rows of some blocks of a tile, decoded: row r of them is row first_row + r of the tile. Queries
/// select rows here and there, and a second-level cache has to find each: what is read of every
/// candidate lies together, its first stage's values and then its terms.
class SharedRows {
 public:
  static constexpr int kMostRows = SharedSketches::kMostBlocks * kBlockRows;

  explicit SharedRows(const ScanCodec& codec);

  /// Blocks that fit: SharedSketches::kMostBlocks, or fewer so that their values stay in a
  /// second-level cache while queries take turns.
  int most_blocks() const { return most_blocks_; }

  /// (stage's padded_dim), as set_operand_rows (decode_rows.h) leaves values. Rows that are not
  /// allowed, and positions without a coordinate, have any value.
  const uint8_t* values(size_t stage, uint32_t row) const {
    return values_[stage].data() + row * stride_[stage];
  }
  const SharedTerms& terms(uint32_t row) const {
    return *reinterpret_cast<const SharedTerms*>(values(0, row) + terms_offset_);
  }

  uint32_t first_row = 0;
  float max_scale = 0;
  float max_constant = 0;  // of the magnitudes

  // For decode_shared_rows() to write.
  int8_t* values_of(size_t stage, uint32_t row) {
    return reinterpret_cast<int8_t*>(values_[stage].data() + row * stride_[stage]);
  }
  SharedTerms& terms_of(uint32_t row) {
    return *reinterpret_cast<SharedTerms*>(values_[0].data() + row * stride_[0] + terms_offset_);
  }
  size_t stride(size_t stage) const { return stride_[stage]; }

 private:
  int most_blocks_;
  size_t terms_offset_;
  size_t stride_[2] = {0, 0};  // bytes from a row to the next
  AlignedVector<uint8_t> values_[2];
};

/// Decodes the allowed rows of at most most_blocks() blocks.
void decode_shared_rows(const ScanCodec& codec, const ScanTile& tile, int first_block,
                        int end_block, SharedRows* rows);

/// A query for shared values.
struct Int8Query {
  const int8_t* values;  // (padded_dim), borrowed
  int32_t value_sum[2];  // by stage
  ScoreConstants score;
  SumBound first_stage;  // for two stages
  // For split stages, as in ScanQuery: the sketch's words after the first one.
  int32_t later_weight;
  uint64_t sign_words[kMaxSketchWords - 1];
  uint64_t ones_words[kMaxSketchWords - 1];
  uint64_t twos_words[kMaxSketchWords - 1];

  /// SignSums' other sum, by `count` words of a row.
  int32_t other_sum(const uint64_t* words, int count) const {
    int32_t distance = 0;
    for (int i = 0; i < count; ++i)
      distance += word_distance(sign_words[i] ^ words[i], ones_words[i], twos_words[i]);
    return sum_after_first_stage(later_weight, distance);
  }
};
void set_value_query(const ScanCodec& codec, const ScanQuery& query, Int8Query* values);
/// Fetches what is read of a query.
inline void fetch_values(const ScanCodec& codec, const Int8Query& query) {
  fetch(reinterpret_cast<const uint8_t*>(query.values), static_cast<size_t>(codec.padded_dim()));
}

/// A query and what a row must reach to be one of its best: a score by values, and a bound by the
/// first of two stages.
struct ScoreGoal {
  const Int8Query* query;
  float score;
  float bound;
};

/// Rows that reach queries' goals, side by side.
struct SharedMatches {
  static constexpr int kMost = 4 * SharedRows::kMostRows;
  static constexpr size_t kCapacity = kMost + 4;  // kernels write four at a time
  alignas(64) uint32_t rows[kCapacity];           // numbers of shared rows
  alignas(64) int32_t goals[kCapacity];           // whose goal it reaches
  alignas(64) int32_t dots[2][kCapacity];         // by stage
  int count = 0;

  bool fits(int more) const { return count + more <= kMost; }
};

/// Appends the candidates that reach goals[goal], in order: by their scores, or, of two stages, by
/// the bound and with the first one's dots set. What is after the candidates is overwritten. Only
/// where can_share_sketches().
void find_shared_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                         int goal, CandidateRows* candidates, SharedMatches* matches);

/// For two stages: sets the second's dots, and keeps the matches that reach by their scores.
void keep_by_second_stage(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                          SharedMatches* matches);

}  // namespace polarquant
