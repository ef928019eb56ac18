// SPDX-License-Identifier: MIT
// The dense scan of tiles: every row is decoded once and scored against all queries of a group, 16
// queries side by side. docs/scan.md says when it pays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/dense_hits.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"
#include "src/scan/top_k.h"

namespace polarquant {

/// A group's queries in panels, made once and shared by all threads.
class QueryPanels {
 public:
  QueryPanels(const ScanCodec& codec, std::span<const ScanQuery> queries, int threads);

  const ScanQuery* queries() const { return queries_.data(); }
  int64_t size() const { return static_cast<int64_t>(queries_.size()); }
  /// Of the stage's lanes.
  const int8_t* panel(size_t stage, int64_t panel) const {
    return panels_[panels_of_stage(stage)].data() + panel * panel_levels(stage);
  }
  const PanelConstants* constants(int64_t panel) const { return constants_.data() + panel; }

 private:
  int64_t panel_levels(size_t stage) const {
    return int64_t{codec_.stages()[stage].lanes()} * kPanelQueries;
  }
  /// Stages of the same lanes share them.
  size_t panels_of_stage(size_t stage) const { return codec_.has_split_stages() ? stage : 0; }
  void put_query(const ScanQuery& query, int64_t panel, int slot);

  const ScanCodec& codec_;
  std::span<const ScanQuery> queries_;
  std::vector<AlignedVector<int8_t>> panels_;
  AlignedVector<PanelConstants> constants_;
};

/// One thread's dense search.
class DenseSearch {
 public:
  /// `bounded`: rows are ordered by the least of score and bounds, not by score alone.
  DenseSearch(const ScanCodec& codec, bool bounded);

  /// Brings the tile's rows into best[q] for queries first ≤ q < end of the panels; `first` is a
  /// multiple of 16.
  void search(const ScanTile& tile, const QueryPanels& panels, int64_t first, int64_t end,
              TopK* best);

 private:
  void decode_block(const ScanTile& tile, int block);
  float threshold(const ScanQuery& query, const TopK& best) const;
  void search_panels(const ScanTile& tile, int block, const QueryPanels& panels,
                     int64_t first_panel, int count, int64_t first_slot, TopK* best);

  /// Terms of the block being scored; constants of rows that take no part are NaN, so that their
  /// scores reach no threshold.
  struct Terms {
    alignas(64) float scale[kChunkRows];
    alignas(64) float constant[kChunkRows];
    alignas(64) float bias[kChunkRows];
  };

  const ScanCodec& codec_;
  bool bounded_;
  std::vector<AlignedVector<int8_t>> levels_;  // by stage: (kChunkRows, stage's lanes)
  AlignedVector<int32_t> dots_[2];             // by stage
  Terms terms_;
  ChunkTerms chunk_terms_;
  AlignedVector<float> thresholds_;  // of the queries being searched, padded to whole panels
  std::vector<DenseHit> hits_;
};

}  // namespace polarquant
