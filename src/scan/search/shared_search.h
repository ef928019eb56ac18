// SPDX-License-Identifier: MIT
// One thread's search of tiles for many queries, where rows are left out by bounds: a few blocks at
// a time are laid out and decoded once, and all queries go through them before the next ones. The
// score of a candidate then takes a few instructions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/scan/kernels/batch/shared_rows.h"
#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// What a shared search needs of each of its queries.
class SharedQueries {
 public:
  /// `queries` is borrowed.
  SharedQueries(const ScanCodec& codec, std::span<const ScanQuery> queries, int threads);

  struct Query {
    SketchQuery sketch;
    Int8Query values;
    const ScanQuery* scan;
  };
  const Query& operator[](int64_t query) const { return queries_[static_cast<size_t>(query)]; }

 private:
  std::vector<Query> queries_;
};

class SharedSearch {
 public:
  /// For codes with signs, where can_share_sketches().
  explicit SharedSearch(const ScanCodec& codec);

  /// Lowers the limit of best[q], for queries first ≤ q < end, to where the k-th best of the tile's
  /// most promising rows is. The search then leaves out most rows from its beginning.
  void seed(const ScanTile& tile, const SharedQueries& queries, int64_t first, int64_t end,
            TopK* best);
  /// Brings the tile's rows into best[q] for queries first ≤ q < end.
  void search(const ScanTile& tile, const SharedQueries& queries, int64_t first, int64_t end,
              TopK* best);

 private:
  /// Blocks by whose rows bounds are judged.
  static constexpr int kSampleBlocks = 4;

  int blocks_together(const ScanTile& tile) const;
  void share_blocks(const ScanTile& tile, int first_block, int end_block);
  float promising_bound(const ScanTile& tile, const ScanQuery& query, int64_t wanted);
  /// Reads the shared rows: brings those that reach thresholds_[i] into best[i], and keeps that at
  /// the k-th best, for as many queries from `first` on as there are thresholds. Where there are
  /// sketch_thresholds, sketches must reach these, too.
  void search_shared(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                     std::span<const float> sketch_thresholds, TopK* best);
  /// Brings the matches of queries first … into their best[…], raises thresholds, and empties
  /// matches.
  void take_matches(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                    const ScoreGoal* goals, float* thresholds, TopK* best);

  /// Queries that select candidates before the first of them scores its own: sketches then stay in
  /// a first-level cache, which values would otherwise empty (docs/dev/tuning.md, "Plans").
  static constexpr int64_t kQueriesTogether = 64;

  struct Found {
    CandidateRows candidates[kQueriesTogether];
    SharedMatches matches;
  };
  struct Sample {
    uint32_t candidates[kSampleBlocks * kBlockRows + kListPadding];
    float bounds[kSampleBlocks * kBlockRows + kListPadding];
  };

  const ScanCodec& codec_;
  bool has_error_bound_ = false;  // for range searches
  SharedRows values_;
  SpareMemory<SharedSketches> sketches_;
  SpareMemory<Found> found_;
  std::vector<float> thresholds_;  // of the queries
};

}  // namespace polarquant
