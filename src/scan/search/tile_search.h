// SPDX-License-Identifier: MIT
// One thread's search of tiles: rows go through the stages of docs/dev/bounds.md, the best stay.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/thread_limits.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// Blocks of a list of an inverted file within a tile.
struct TileList {
  const ScanQuery* query = nullptr;  // about the list's centre
  int end_block = 0;                 // they begin where those of the list before end
};

class TileSearch {
 public:
  /// Queries whose candidates are found together: a block's signs are then read once for all.
  static constexpr int kMaxQueriesTogether = 8;

  /// For codes with signs. Memory is taken for `queries` ≥ 1 or kMaxQueriesTogether.
  TileSearch(const ScanCodec& codec, int64_t queries);

  /// Brings the tile's rows into best[i] for queries[i], i < count.
  void search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best,
              const ThreadLimits& limits = {});

  /// The same as a tile grows, for at most kMaxQueriesTogether queries: after begin,
  /// search_blocks for the blocks from `first_block` on as often as some were added; search_waiting
  /// before the tile is given up.
  void begin(const ScanQuery* queries, int count);
  void search_blocks(const ScanTile& tile, int first_block, TopK* best, const ThreadLimits& limits);
  void search_waiting(const ScanTile& tile, TopK* best, const ThreadLimits& limits);

  /// The most lists that are searched together, and their blocks.
  static constexpr int kMaxLists = kMaxQueriesTogether;
  static constexpr int kMaxListBlocks = 128;
  /// Brings the rows of all lists into *best, that of one query: stage by stage, so that memory for
  /// one list arrives while others are computed. Best where *best has k rows already.
  void search_lists(const ScanTile& tile, std::span<const TileList> lists, TopK* best);

 private:
  /// Rows that go through the later stages together: between two pieces the threshold rises.
  static constexpr int kPieceRows = 256;
  /// Blocks of a slice, after which candidates are searched, and those of the first slice.
  static constexpr int kSliceBlocks = 256;
  static constexpr int kFirstSliceBlocks = 8;
  static constexpr int kSliceRows = kSliceBlocks * kBlockRows;
  /// Candidates of a query that may wait while a slice is read.
  static constexpr int kMostWaiting = 16384;
  static constexpr int kListCapacity = kMostWaiting + kSliceRows + kListPadding;

  void find_list_candidates(const ScanTile& tile, std::span<const TileList> lists, float threshold);
  void search_all(const ScanTile& tile, CandidateSearch* search, TopK* best);
  void search_promising(const ScanTile& tile, CandidateSearch* search, int first, int blocks,
                        TopK* best);
  int search_reaching(const ScanTile& tile, const ScanQuery& query, CandidateList list, float bound,
                      TopK* best);
  int keep_by_residual(const ScanQuery& query, int first, int count, float worst_key);
  void score_piece(const ScanTile& tile, const ScanQuery& query, int first, int count, TopK* best);

  /// Memory of a CandidateList, or of some short ones.
  struct ListMemory {
    alignas(64) uint32_t candidates[kListCapacity];
    alignas(64) float bounds[kListCapacity];

    CandidateList list(size_t first = 0) { return {candidates + first, bounds + first, 0}; }
  };

  /// Rows that go through the later stages together.
  struct Piece {
    static constexpr size_t kCapacity = kPieceRows + kListPadding;
    alignas(64) uint32_t candidates[kCapacity];
    alignas(64) uint32_t rows[kCapacity];
    SignSums sums[kCapacity];
    ScanTerms terms[kCapacity];
    alignas(64) int32_t dots[2][kCapacity];  // by stage
  };

  const ScanCodec& codec_;
  int together_;
  // The current queries.
  std::array<CandidateSearch, kMaxQueriesTogether> searches_;
  int count_ = 0;
  int slice_ = kFirstSliceBlocks;
  std::vector<SpareMemory<ListMemory>> found_;  // for the queries that are searched together
  SpareMemory<ListMemory> taken_;
  SpareMemory<Piece> piece_;
  AlignedVector<int8_t> values_;  // (padded_dim)
};

}  // namespace polarquant
