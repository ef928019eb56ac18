// SPDX-License-Identifier: MIT
// One thread's scan of lists of an inverted file, for one query at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/kernels/tile.h"
#include "src/scan/list_search.h"
#include "src/scan/row_filter.h"
#include "src/scan/scan_query.h"
#include "src/scan/shared_limits.h"
#include "src/scan/tile_search.h"
#include "src/scan/top_k.h"

namespace polarquant {

class ListScan {
 public:
  /// Both are borrowed.
  ListScan(const InvertedFile& file, const IdFilter& filter, float exactness);

  /// Brings the list's rows into `best`, which has their places for ids. `query` is prepared by the
  /// codec, and not about a centre.
  void search(const PreparedQuery& query, int64_t list, TopK* best, const ThreadLimits& limits);

  /// Codec::score of the row at a place, for the query.
  float score(const PreparedQuery& query, int64_t place);

 private:
  const PreparedQuery& about(const PreparedQuery& query, int64_t list);
  void search_blocks(const PreparedQuery& query, int64_t list, TopK* best,
                     const ThreadLimits& limits);
  void search_row_codes(const PreparedQuery& query, int64_t list, TopK* best);

  const InvertedFile& file_;
  RowFilter filter_;  // over places
  float exactness_;
  bool bounded_;
  PreparedQuery moved_;
  std::vector<uint8_t> code_;
  AlignedVector<float> decoded_;
  // Of codes with integer levels.
  ScanQuery scan_query_;
  std::unique_ptr<ScanTile> tile_;
  std::unique_ptr<TileSearch> staged_;
};

}  // namespace polarquant
