// SPDX-License-Identifier: MIT
// The dense scan of tiles: every row is decoded once and multiplied with all queries of a group, 16
// queries side by side. docs/dev/kernels.md says when it pays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/dense/bound_matches.h"
#include "src/scan/kernels/dense/centroid_matches.h"
#include "src/scan/kernels/dense/dense_matches.h"
#include "src/scan/kernels/dense/first_stage_vectors.h"
#include "src/scan/kernels/dense/one_step_vectors.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// A group's queries in query tiles, made once and shared by all threads.
class QueryTiles {
 public:
  /// For searches of this form.
  QueryTiles(const ScanCodec& codec, std::span<const ScanQuery> queries, DenseForm form,
             int threads);

  const ScanQuery* queries() const { return queries_.data(); }
  int64_t size() const { return static_cast<int64_t>(queries_.size()); }
  /// The stage's values, or those that one step or the first stage has.
  const int8_t* query_tile(size_t stage, int64_t query_tile) const {
    return query_tiles_[query_tiles_of_stage(stage)].data() + query_tile * query_tile_values(stage);
  }
  const QueryTileConstants* constants(int64_t query_tile) const {
    return constants_.data() + query_tile;
  }
  /// For codes about centroids, from a tile on.
  size_t tile_bases() const { return static_cast<size_t>(codec_.centroid_count()) * kTileQueries; }
  CentroidBases bases(int64_t query_tile) const {
    return {bases_.data() + static_cast<size_t>(query_tile) * tile_bases(), tile_bases(),
            queries_[0].weighs_by_base};
  }
  /// For forms in which few rows get scores.
  const MatchQuery* match_queries(int64_t first) const { return match_queries_.data() + first; }

 private:
  int64_t query_tile_values(size_t stage) const {
    int padded_dim = codec_.stages()[stage].padded_dim();
    if (one_step_) padded_dim = one_step_->padded_dim();
    if (first_stage_) padded_dim = first_stage_->padded_dim();
    return int64_t{padded_dim} * kTileQueries;
  }
  /// Stages of the same segments share tiles.
  size_t query_tiles_of_stage(size_t stage) const { return codec_.has_split_stages() ? stage : 0; }
  void put_query(int64_t q, int64_t query_tile, int slot);

  const ScanCodec& codec_;
  std::span<const ScanQuery> queries_;
  DenseForm form_;
  std::optional<OneStepVectors> one_step_;
  std::optional<FirstStageVectors> first_stage_;
  std::vector<AlignedVector<int8_t>> query_tiles_;
  AlignedVector<QueryTileConstants> constants_;
  AlignedVector<float> bases_;
  std::vector<MatchQuery> match_queries_;
};

/// One thread's dense search.
class DenseSearch {
 public:
  /// `bounded`: rows are ordered by the least of score and bounds, not by score alone.
  DenseSearch(const ScanCodec& codec, DenseForm form, bool bounded);

  DenseForm form() const { return form_; }

  /// Brings the tile's rows into best[q] for queries first ≤ q < end of the query tiles, which are
  /// for searches of this form; `first` is a multiple of 16.
  void search(const ScanTile& tile, const QueryTiles& query_tiles, int64_t first, int64_t end,
              TopK* best);

 private:
  void decode_block(const ScanTile& tile, int block);
  /// Query tiles that are multiplied with a block together.
  struct TilesTogether {
    const QueryTiles& tiles;
    int64_t first;  // the first tile
    int count;
    int64_t first_slot;  // the first of their queries' thresholds
  };
  void search_query_tiles(const ScanTile& tile, int block, const TilesTogether& together,
                          TopK* best);
  /// Finds those whose scores reach their query's threshold; returns how many.
  int find_matches(const TilesTogether& together);
  void set_threshold(const ScanQuery& query, const TopK& best, int64_t slot);
  void set_squared_norms(int stride, int count);
  ScanTerms terms_of(int row) const;

  /// Terms of the block being scored; constants of rows that take no part are NaN, so that their
  /// scores reach no threshold.
  struct Terms {
    alignas(64) float scale[kChunkRows];
    alignas(64) float constant[kChunkRows];
    alignas(64) float bias[kChunkRows];
    alignas(64) float squared_norm[kChunkRows] = {};
    alignas(64) int32_t centroid[kChunkRows] = {};
  };

  const ScanCodec& codec_;
  bool bounded_;
  DenseForm form_;
  std::optional<OneStepVectors> one_step_;
  std::optional<FirstStageVectors> first_stage_;
  std::vector<AlignedVector<int8_t>> values_;  // by stage, or one step: (kChunkRows, padded_dim)
  AlignedVector<int32_t> dots_[2];             // by stage
  Terms terms_;
  ChunkTerms chunk_terms_;
  BoundRows bound_rows_;    // where the first stage leaves rows out
  MatchRows match_rows_{};  // where few rows get scores
  /// For the queries being searched, padded to whole query tiles: for scores, and for bounds, which
  /// have no error_bound.
  AlignedVector<float> thresholds_;
  AlignedVector<float> bound_thresholds_;
  std::vector<DenseMatch> matches_;
};

}  // namespace polarquant
