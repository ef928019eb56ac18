// SPDX-License-Identifier: MIT
#include "src/scan/search/every_row_search.h"

#include <algorithm>

#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/decode/candidate_dots.h"

namespace polarquant {

EveryRowSearch::EveryRowSearch(const ScanCodec& codec, bool bounded, bool by_windows)
    : codec_(codec),
      bounded_(bounded && codec.has_centroids()),
      by_windows_(by_windows),
      values_(static_cast<size_t>(codec.padded_dim())) {}

void EveryRowSearch::begin(const ScanQuery* queries, int64_t count) {
  bounds_.clear();
  tables_.resize(by_windows_ ? static_cast<size_t>(count) : 0);
  for (int64_t i = 0; i < count; ++i) {
    RowBounds& bounds = bounds_.emplace_back(RowBounds{&codec_, &queries[i], nullptr, bounded_});
    if (!by_windows_) continue;
    WindowTables& tables = tables_[static_cast<size_t>(i)];
    make_window_tables(codec_, queries[i], &tables);
    bounds.tables = &tables;
  }
}

void EveryRowSearch::search_tile(const ScanTile& tile, TopK* best, const ThreadLimits& limits) {
  for (size_t i = 0; i < bounds_.size(); ++i) {
    search(bounds_[i], tile, &best[i]);
    limits.exchange(static_cast<int64_t>(i), &best[i]);
  }
}

void EveryRowSearch::search_few(const ScanTile& tile, const ScanQuery& query, TopK* best) {
  search({&codec_, &query, nullptr, bounded_}, tile, best);
}

void EveryRowSearch::search(const RowBounds& bounds, const ScanTile& tile, TopK* best) {
  piece_->waiting.count = 0;
  for (int block = 0; block < tile.blocks; ++block) {
    const int count =
        find_rows_to_score(bounds, tile, block, -best->worst_key(), &piece_->waiting, piece_->rows);
    score(tile, *bounds.query, count, best);
  }
  const int count =
      find_waiting_rows_to_score(bounds, tile, -best->worst_key(), &piece_->waiting, piece_->rows);
  score(tile, *bounds.query, count, best);
}

// Scores the first `count` rows of the piece.
void EveryRowSearch::score(const ScanTile& tile, const ScanQuery& query, int count, TopK* best) {
  const auto& stages = codec_.stages();
  for (int first = 0; first < count; first += kBlockRows) {
    const int some = std::min(count - first, kBlockRows);
    uint32_t* rows = piece_->rows + first;
    GatheredTerms gathered;
    gather_terms(codec_, tile, rows, some, &gathered);
    // Up to four rows after the last are overwritten: they come first.
    for (size_t i = 0; i < stages.size(); ++i)
      candidate_dots(tile, codec_, stages[i], query, rows, some, values_.data(), piece_->dots[i]);
    for (int i = 0; i < some; ++i) {
      const ScanTerms terms = gathered.row(i, codec_);
      const ScoreConstants by = query.score_of(terms);
      float score = stages.size() == 2
                        ? similarity(by, terms, piece_->dots[0][i], piece_->dots[1][i])
                        : similarity(by, terms, piece_->dots[0][i]);
      score = with_error_bound(query, terms, score);
      if (!(-score <= best->worst_key())) continue;
      const float least = bounded_ ? std::min(score, centroid_bound(query, terms)) : score;
      best->push({-least, -score, id_of(tile, rows[i])});
    }
  }
}

}  // namespace polarquant
