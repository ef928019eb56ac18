// SPDX-License-Identifier: MIT
#include "src/scan/search/tile_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/decode/candidate_dots.h"

namespace polarquant {
namespace {

/// Rows of a list whose signs are fetched while other lists are searched.
constexpr int kFetchedOfList = 32;

/// A bound that about `wanted` of the rows reach, judged by a sample of them.
float bound_reached_by(int64_t wanted, const float* bounds, int count) {
  constexpr int kMaxSample = 32;
  float sample[kMaxSample];
  const int every = (count + kMaxSample - 1) / kMaxSample;
  const int size = count / every;
  for (int i = 0; i < size; ++i) sample[i] = bounds[i * every];
  const int64_t rank = std::clamp<int64_t>(wanted * size / count, 0, size - 1);
  // Usually few of many: a heap of those is less work than a full partition.
  std::partial_sort(sample, sample + rank + 1, sample + size, std::greater<>());
  return sample[rank];
}

}  // namespace

TileSearch::TileSearch(const ScanCodec& codec, int64_t queries)
    : codec_(codec),
      together_(static_cast<int>(std::min<int64_t>(kMaxQueriesTogether, queries))),
      found_(static_cast<size_t>(together_)),
      values_(static_cast<size_t>(codec.padded_dim())) {}

// Keeps those of the `count` rows of the piece from `first` on that may be among the best by the
// first stage of a residual code; returns how many.
int TileSearch::keep_by_residual(const ScanQuery& query, int first, int count, float worst_key) {
  int32_t* dots = piece_->dots[0];
  int kept = first;
  for (int i = first; i < first + count; ++i) {
    const auto from = static_cast<size_t>(i);
    const auto to = static_cast<size_t>(kept);
    const float bound = first_stage_bound(query, piece_->terms[from], dots[i], piece_->sums[from]);
    piece_->rows[to] = piece_->rows[from];
    dots[kept] = dots[i];
    piece_->sums[to] = piece_->sums[from];
    piece_->terms[to] = piece_->terms[from];
    kept += -bound <= worst_key ? 1 : 0;
  }
  return kept - first;
}

// Scores the `count` rows of the piece from `first` on, whose sums and terms are set, for split
// stages with the first one's dots.
void TileSearch::score_piece(const ScanTile& tile, const ScanQuery& query, int first, int count,
                             TopK* best) {
  const auto& stages = codec_.stages();
  uint32_t* rows = piece_->rows + first;
  int32_t* first_dots = piece_->dots[0] + first;
  int32_t* second_dots = piece_->dots[1] + first;
  if (!codec_.has_split_stages()) {
    candidate_dots(tile, codec_, stages[0], query, rows, count, values_.data(), first_dots);
    if (stages.size() == 2) count = keep_by_residual(query, first, count, best->worst_key());
  }
  if (stages.size() == 2)
    candidate_dots(tile, codec_, stages[1], query, rows, count, values_.data(), second_dots);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(first + i);
    const ScanTerms& terms = piece_->terms[at];
    const ScoreConstants constants = query.score_of(terms);
    float score = stages.size() == 2 ? similarity(constants, terms, first_dots[i], second_dots[i])
                                     : similarity(constants, terms, first_dots[i]);
    score = with_error_bound(query, terms, score);
    if (!(-score <= best->worst_key())) continue;
    const float least =
        bounded_score(query, terms, score, piece_->sums[at], stages.size() == 2, first_dots[i]);
    best->push({-least, -score, id_of(tile, rows[i])});
  }
}

// Searches the rows of the list whose bound is at least `bound`, and returns how many others are
// left in it.
int TileSearch::search_reaching(const ScanTile& tile, const ScanQuery& query, CandidateList list,
                                float bound, TopK* best) {
  CandidateList taken = taken_->list();
  take_reaching(bound, &list, &taken);
  for (int first = 0; first < taken.count; first += kPieceRows) {
    const int end = std::min(taken.count, first + kPieceRows);
    const float threshold = -best->worst_key();
    int reached = 0;
    for (int i = first; i < end; ++i) {
      piece_->candidates[static_cast<size_t>(reached)] = taken.candidates[i];
      reached += taken.bounds[i] >= threshold ? 1 : 0;
    }
    const KeptRows out = {piece_->rows, piece_->sums, piece_->terms, piece_->dots[0]};
    const auto& keep = codec_.has_split_stages() ? keep_by_first_stage : keep_by_signs;
    const int kept = keep(codec_, tile, query, threshold, piece_->candidates, reached, out);
    score_piece(tile, query, 0, kept, best);
  }
  return list.count;
}

// Searches the most promising of a slice's candidates, those from `first` on: after them the
// threshold is near its final value. Where there is a threshold already, smaller slices have fewer
// such rows. Other numbers are slower (docs/dev/tuning.md, "Stages").
void TileSearch::search_promising(const ScanTile& tile, CandidateSearch* search, int first,
                                  int blocks, TopK* best) {
  const CandidateList& found = search->found;
  const CandidateList list = {found.candidates + first, found.bounds + first, found.count - first};
  int64_t wanted = promising_rows(best->k()) / 2;
  if (std::isfinite(best->worst_key()))
    wanted = std::max<int64_t>(wanted * blocks / kSliceBlocks, 2);
  const float bound =
      list.count > wanted ? bound_reached_by(wanted, list.bounds, list.count) : search->threshold;
  search->found.count = first + search_reaching(tile, *search->query, list, bound, best);
}

void TileSearch::search_all(const ScanTile& tile, CandidateSearch* search, TopK* best) {
  const CandidateList& found = search->found;
  for (int first = 0; first < found.count; first += kSliceRows) {
    const int count = std::min(kSliceRows, found.count - first);
    search_reaching(tile, *search->query, {found.candidates + first, found.bounds + first, count},
                    -best->worst_key(), best);
  }
  search->found.count = 0;
}

void TileSearch::begin(const ScanQuery* queries, int count) {
  for (int i = 0; i < count; ++i) {
    searches_[i].query = &queries[i];
    searches_[i].found = found_[static_cast<size_t>(i)]->list();
  }
  count_ = count;
  slice_ = kFirstSliceBlocks;
}

// Reads the rows' sketches slice by slice, and searches the most promising rows. The others wait
// until the tile's end, when most are below the threshold by the bound that they have.
void TileSearch::search_blocks(const ScanTile& tile, int first_block, TopK* best,
                               const ThreadLimits& limits) {
  for (int block = first_block; block < tile.blocks;) {
    const int end = std::min(tile.blocks, block + slice_);
    int before[kMaxQueriesTogether];
    for (int i = 0; i < count_; ++i) {
      if (searches_[i].found.count > kMostWaiting) search_all(tile, &searches_[i], &best[i]);
      before[i] = searches_[i].found.count;
      searches_[i].threshold = -best[i].worst_key();
    }
    const int blocks = end - block;
    find_sketch_candidates(codec_, tile, block, end, searches_.data(), count_);
    block = end;
    bool all_have_thresholds = true;
    for (int i = 0; i < count_; ++i) {
      search_promising(tile, &searches_[i], before[i], blocks, &best[i]);
      limits.exchange(i, &best[i]);
      all_have_thresholds = all_have_thresholds && std::isfinite(best[i].worst_key());
    }
    // Without a threshold every row is a candidate, with an early one many are.
    if (all_have_thresholds) slice_ = std::min(kSliceBlocks, 4 * slice_);
  }
}

void TileSearch::search_waiting(const ScanTile& tile, TopK* best, const ThreadLimits& limits) {
  for (int i = 0; i < count_; ++i) {
    search_all(tile, &searches_[i], &best[i]);
    limits.exchange(i, &best[i]);
  }
}

// The first stage. The second stage's data of its candidates is fetched when all lists are through.
void TileSearch::find_list_candidates(const ScanTile& tile, std::span<const TileList> lists,
                                      float threshold) {
  static_assert(kMaxListBlocks * kBlockRows + kMaxLists * kListPadding <= kListCapacity);
  const SignFetcher fetch_signs(codec_);
  size_t capacity = 0;
  int first = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    CandidateSearch& search = searches_[i];
    search.query = lists[i].query;
    search.threshold = threshold;
    search.found = found_[0]->list(capacity);
    const int end = lists[i].end_block;
    find_sketch_candidates(codec_, tile, first, end, &search, 1);
    for (int j = 0; j < std::min(search.found.count, kFetchedOfList); ++j)
      fetch_signs(place_of(tile, row_of(search.found.candidates[j])));
    capacity += static_cast<size_t>((end - first) * kBlockRows + kListPadding);
    first = end;
  }
}

void TileSearch::search_lists(const ScanTile& tile, std::span<const TileList> lists, TopK* best) {
  // Rows of one list in the piece.
  struct Part {
    const ScanQuery* query;
    int first;
    int count;
  };
  constexpr int kLeastPiece = 32;
  std::array<Part, 2 * kMaxLists> parts;
  size_t part_count = 0;
  int used = 0;
  const auto score_parts = [&] {
    for (size_t i = 0; i < part_count; ++i)
      score_piece(tile, *parts[i].query, parts[i].first, parts[i].count, best);
    part_count = 0;
    used = 0;
  };
  find_list_candidates(tile, lists, -best->worst_key());
  const auto& keep = codec_.has_split_stages() ? keep_by_first_stage : keep_by_signs;
  const size_t payload_bytes = codec_.stages()[0].payload_bytes;
  for (size_t i = 0; i < lists.size(); ++i) {
    CandidateList found = searches_[i].found;
    while (found.count > 0) {
      if (kPieceRows - used < kLeastPiece || part_count == parts.size()) score_parts();
      const int count = std::min(found.count, kPieceRows - used);
      // Kernels write up to four more, where the next list's candidates still are.
      std::copy_n(found.candidates, count, piece_->candidates);
      const auto at = static_cast<size_t>(used);
      const KeptRows out = {&piece_->rows[at], &piece_->sums[at], &piece_->terms[at],
                            &piece_->dots[0][at]};
      const int kept =
          keep(codec_, tile, *lists[i].query, -best->worst_key(), piece_->candidates, count, out);
      for (int j = used; j < used + kept; ++j)
        fetch_code(codec_.layout(), place_of(tile, piece_->rows[static_cast<size_t>(j)]),
                   payload_bytes);
      if (kept > 0) parts[part_count++] = {lists[i].query, used, kept};
      used += (kept + 3) / 4 * 4;
      found.candidates += count;
      found.count -= count;
    }
  }
  score_parts();
}

void TileSearch::search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best,
                        const ThreadLimits& limits) {
  for (int64_t first = 0; first < count; first += together_) {
    begin(queries + first, static_cast<int>(std::min<int64_t>(together_, count - first)));
    search_blocks(tile, 0, best + first, limits.from(first));
    search_waiting(tile, best + first, limits.from(first));
  }
}

}  // namespace polarquant
