// SPDX-License-Identifier: MIT
#include "src/scan/list_scan.h"

#include <algorithm>

#include "src/scan/block_search.h"
#include "src/scan/tile_loader.h"

namespace polarquant {
namespace {

/// A filter of ids as one of places.
RowFilter places_of(const CodeLists& lists, const IdFilter& filter) {
  if (!filter) return {};
  return [&lists, &filter](int64_t place) {
    return filter(lists.ids(list_of_place(place))[row_of_place(place)]);
  };
}

}  // namespace

ListScan::ListScan(const InvertedFile& file, const IdFilter& filter, float exactness)
    : file_(file),
      filter_(places_of(file.lists, filter)),
      exactness_(exactness),
      bounded_(file.scan_codec != nullptr && search_is_bounded(*file.scan_codec, exactness)),
      code_(file.lists.code_bytes()),
      decoded_(static_cast<size_t>(file.codec.dim())) {
  if (file.scan_codec == nullptr) return;
  tile_ = std::make_unique_for_overwrite<ScanTile>();
  staged_ = std::make_unique<TileSearch>(*file.scan_codec, 1);
}

const PreparedQuery& ListScan::about(const PreparedQuery& query, int64_t list) {
  if (file_.centres.empty()) return query;
  file_.codec.about(query, file_.centres[static_cast<size_t>(list)], &moved_);
  return moved_;
}

void ListScan::search(const PreparedQuery& query, int64_t list, TopK* best,
                      const ThreadLimits& limits) {
  if (file_.lists.rows(list) == 0) return;
  if (file_.lists.has_blocks()) {
    search_blocks(about(query, list), list, best, limits);
  } else {
    search_row_codes(about(query, list), list, best);
  }
}

void ListScan::search_blocks(const PreparedQuery& query, int64_t list, TopK* best,
                             const ThreadLimits& limits) {
  set_scan_query(*file_.scan_codec, query, bounded_ ? exactness_ : 0, &scan_query_);
  for (size_t i = 0; i < file_.lists.span_count(list); ++i) {
    BlockRows rows = file_.lists.span(list, i);
    rows.first_row = place_of_row(list, rows.first_row);
    const TileLoader loader(*file_.scan_codec, {&rows, 1}, filter_);
    for (int64_t first = 0; first < loader.blocks(); first += kTileBlocks) {
      tile_->blocks = 0;
      loader.load(first, std::min<int64_t>(kTileBlocks, loader.blocks() - first), nullptr,
                  tile_.get());
      if (bounded_) {
        staged_->search(*tile_, &scan_query_, 1, best, limits);
      } else {
        staged_->score_all(*tile_, scan_query_, best);
      }
    }
  }
}

void ListScan::search_row_codes(const PreparedQuery& query, int64_t list, TopK* best) {
  const Codec& codec = file_.codec;
  const int64_t rows = file_.lists.rows(list);
  const CodeRows codes = {file_.lists.row_codes(list), rows};
  for (int64_t row = 0; row < rows; ++row) {
    if (!filter_.keeps(place_of_row(list, row))) continue;
    const RowTerms terms = codec.decode_for_score(codes, row, decoded_.data());
    const float score = codec.score_decoded(query, terms, decoded_.data());
    best->push({key_of_score(score, codec.higher_is_nearer()), place_of_row(list, row)});
  }
}

float ListScan::score(const PreparedQuery& query, int64_t place) {
  const int64_t list = list_of_place(place);
  file_.lists.get(list, row_of_place(place), code_.data());
  const RowTerms terms = file_.codec.decode_for_score({code_.data(), 1}, 0, decoded_.data());
  return file_.codec.score_decoded(about(query, list), terms, decoded_.data());
}

}  // namespace polarquant
