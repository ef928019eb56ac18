// SPDX-License-Identifier: MIT
// One thread's scan of lists of an inverted file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/dense_search.h"
#include "src/scan/search/every_row_search.h"
#include "src/scan/search/list_row_scorer.h"
#include "src/scan/search/list_search.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/thread_limits.h"
#include "src/scan/search/tile_search.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

class KeptListRows;

class ListScan {
 public:
  /// The most queries that a list is searched for together.
  static constexpr int64_t kMaxQueries = 128;

  /// `file` and `request` are borrowed. A range search's rows are those that may be within the
  /// radius.
  ListScan(const InvertedFile& file, const ListPlan& plan, const SearchRequest& request);

  /// Brings the list's rows into best[q] for the queries of these numbers, at most kMaxQueries;
  /// best has their list_offsets for ids. Queries are prepared by the codec, without a centre.
  /// `limits`: those of a single query.
  void search(const PreparedQuery* queries, std::span<const int32_t> numbers, int64_t list,
              TopK* best, const ThreadLimits& limits);

  /// The same for many lists and one query.
  void search(const PreparedQuery* queries, int32_t query, std::span<const int64_t> lists,
              TopK* best, const ThreadLimits& limits);

  /// Codec::score of the row at a list_offset, for the query.
  float score(const PreparedQuery& query, int64_t list_offset) {
    return scorer_.score(query, list_offset);
  }

 private:
  void set_query(const PreparedQuery& query, int64_t list, ScanQuery* scan);
  int64_t append_spans(int64_t list);
  template <typename Body>
  void for_each_tile(int64_t list, const Body& body);
  void fetch_centre(int64_t list) const;
  void fetch(int64_t list) const;
  void fetch_kept(int64_t list) const;
  bool scores_all(int64_t list) const;
  void score_all(const PreparedQuery& query, int64_t list, TopK* best);
  size_t lists_together(std::span<const int64_t> lists, const TopK& best) const;
  void search_together(const PreparedQuery& query, std::span<const int64_t> lists, size_t count,
                       TopK* best);
  void search_blocks(int64_t list, int64_t count, const ThreadLimits& limits);
  void search_tile(ScanKind kind, int64_t count, const QueryTiles* query_tiles,
                   const ThreadLimits& limits);
  void search_row_codes(const PreparedQuery* queries, std::span<const int32_t> numbers,
                        int64_t list);

  const InvertedFile& file_;
  RowFilter filter_;          // over list_offsets
  const KeptListRows* kept_;  // the same, if it is known which rows these are
  ListPlan plan_;
  const SearchRequest& request_;
  std::vector<TopK> best_;  // the best rows of a list's queries
  ListRowScorer scorer_;
  // For codes without int8 values.
  std::vector<PreparedQuery> residual_;  // queries about the list's centre
  AlignedVector<float> decoded_;
  // For codes with int8 values.
  std::vector<ScanQuery> scan_queries_;
  SpareMemory<std::array<ScanQuery, TileSearch::kMaxLists>> list_queries_;
  std::vector<BlockRows> spans_;
  SpareMemory<ScanTile> tile_;
  std::unique_ptr<TileSearch> staged_;
  std::unique_ptr<EveryRowSearch> every_;
  std::unique_ptr<DenseSearch> dense_;
};

}  // namespace polarquant
