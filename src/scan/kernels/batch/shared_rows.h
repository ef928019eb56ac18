// SPDX-License-Identifier: MIT
// Scores of the few rows that queries selection out of some blocks whose values they share.
#pragma once

#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// What is read of a shared row beside its values.
struct alignas(64) SharedTerms {
  /// Of split stages, those of the sketch behind the first one, which its bound needs; kernels read
  /// two at a time.
  uint64_t words[kMaxSketchWords];
  alignas(16) ScanTerms terms;
};

/// Rows of some blocks of a tile, decoded: row r of them is row first_row + r of the tile. Queries
/// selection rows here and there, each of which a second-level cache has to find: what every
/// candidates row is asked for lies together, its first stage's values and behind them its terms.
class SharedRows {
 public:
  static constexpr int kMostRows = SharedFronts::kMostBlocks * kBlockRows;

  explicit SharedRows(const ScanCodec& codec);

  /// As many blocks as there is room for: SharedFronts::kMostBlocks, or fewer whose values stay in
  /// a second-level cache while queries take turns.
  int most_blocks() const { return most_blocks_; }

  /// (stage's lanes), as set_operand_rows (decode_rows.h) leaves values. Rows that are not allowed,
  /// and lanes without a coordinate, have any value.
  const uint8_t* values(size_t stage, uint32_t row) const {
    return values_[stage].data() + row * stride_[stage];
  }
  const SharedTerms& terms(uint32_t row) const {
    return *reinterpret_cast<const SharedTerms*>(values(0, row) + terms_offset_);
  }

  uint32_t first_row = 0;
  float max_scale = 0;
  float max_constant = 0;  // of the magnitudes

  // To be written by decode_shared_rows().
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

/// A query as it meets shared values.
struct Int8Query {
  const int8_t* values;  // (lanes), borrowed
  int32_t value_sum[2];  // by stage
  ScoreConstants score;
  SumBound first_stage;  // of two stages
  // Of split ones, as in ScanQuery, of the sketch's words behind the first one.
  int32_t weight_behind;
  uint64_t sign_words[kMaxSketchWords - 1];
  uint64_t ones_words[kMaxSketchWords - 1];
  uint64_t twos_words[kMaxSketchWords - 1];

  /// SignSums' other sum, by `count` words of a row.
  int32_t other_sum(const uint64_t* words, int count) const {
    int32_t distance = 0;
    for (int i = 0; i < count; ++i)
      distance += word_distance(sign_words[i] ^ words[i], ones_words[i], twos_words[i]);
    return sum_behind_first_stage(weight_behind, distance);
  }
};
void set_value_query(const ScanCodec& codec, const ScanQuery& query, Int8Query* values);
/// Brings near what is read of a query.
inline void fetch_values(const ScanCodec& codec, const Int8Query& query) {
  fetch(reinterpret_cast<const uint8_t*>(query.values), static_cast<size_t>(codec.padded_dim()));
}

/// A query and what rows must reach to be one of its best: their scores by values, and their bounds
/// by the first of two stages.
struct ScoreGoal {
  const Int8Query* query;
  float score;
  float bound;
};

/// Rows that reach queries' goals, side by side.
struct SharedMatches {
  static constexpr int kMost = 4 * SharedRows::kMostRows;
  static constexpr size_t kCapacity = kMost + 4;  // kernels write four at a time
  alignas(64) uint32_t rows[kCapacity];           // of the shared ones
  alignas(64) int32_t goals[kCapacity];           // whose
  alignas(64) int32_t dots[2][kCapacity];         // by stage
  int count = 0;

  bool has_room(int more) const { return count + more <= kMost; }
};

/// Appends those of the candidates rows that reach goals[goal], in order: by their scores, or by
/// the bound where there are two stages, the first of whose dots is set. What is behind the
/// candidates ones is overwritten. Where can_share_sketches().
void find_shared_matches(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                         int goal, CandidateRows* candidates, SharedMatches* matches);

/// Of two stages: sets the second's dots, and keeps the matches that reach by their scores.
void keep_by_second_stage(const ScanCodec& codec, const SharedRows& rows, const ScoreGoal* goals,
                          SharedMatches* matches);

}  // namespace polarquant
