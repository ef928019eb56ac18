// SPDX-License-Identifier: MIT
#include "src/scan/list_scan.h"

#include <algorithm>

#include "src/scan/block_search.h"

namespace polarquant {

ListScan::ListScan(const InvertedFile& file, const IdFilter& filter, float exactness)
    : file_(file),
      filter_(filter),
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

uint64_t ListScan::allowed(int64_t list, int64_t first, int count) const {
  const uint64_t all = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  if (!filter_) return all;
  const int64_t* ids = file_.lists.ids(list) + first;
  uint64_t bits = 0;
  for (int i = 0; i < count; ++i) bits |= static_cast<uint64_t>(filter_(ids[i]) ? 1 : 0) << i;
  return bits;
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

// Blocks of `rows` from *next_block on into the tile, as many as it has room for.
void ListScan::load(const BlockRows& rows, int64_t list, int64_t* next_block) {
  ScanTile& tile = *tile_;
  tile.blocks = 0;
  for (; *next_block * kBlockRows < rows.rows && tile.blocks < kTileBlocks; ++*next_block) {
    const int64_t first = *next_block * kBlockRows;
    const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows.rows - first));
    const uint64_t bits = allowed(list, rows.first_row + first, count);
    if (bits == 0) continue;
    const RowPlace place = rows.place(file_.scan_codec->layout(), first);
    tile.front[tile.blocks] = place.front;
    tile.rest[tile.blocks] = place.rest;
    tile.room[tile.blocks] = place.room;
    tile.first_row[tile.blocks] = place_of_row(list, rows.first_row + first);
    tile.allowed[tile.blocks] = bits;
    ++tile.blocks;
  }
}

void ListScan::search_blocks(const PreparedQuery& query, int64_t list, TopK* best,
                             const ThreadLimits& limits) {
  set_scan_query(*file_.scan_codec, query, bounded_ ? exactness_ : 0, &scan_query_);
  const CodeBlocks& blocks = file_.lists.blocks(list);
  for (size_t i = 0; i < blocks.spans_count(); ++i) {
    const BlockRows rows = blocks.span(i);
    for (int64_t block = 0; block * kBlockRows < rows.rows;) {
      load(rows, list, &block);
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
    if (allowed(list, row, 1) == 0) continue;
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
