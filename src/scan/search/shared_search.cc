// SPDX-License-Identifier: MIT
#include "src/scan/search/shared_search.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "src/scan/search/match_score.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant {

SharedQueries::SharedQueries(const ScanCodec& codec, std::span<const ScanQuery> queries,
                             int threads)
    : queries_(queries.size()) {
  for_each_query(std::ssize(queries), threads, [&](int64_t q) {
    const ScanQuery& scan = queries[static_cast<size_t>(q)];
    Query& query = queries_[static_cast<size_t>(q)];
    query.scan = &scan;
    set_sketch_query(codec, scan, &query.sketch);
    set_value_query(codec, scan, &query.values);
  });
}

SharedSearch::SharedSearch(const ScanCodec& codec) : codec_(codec), values_(codec) {}

// As few parts as there can be, all of the same size.
int SharedSearch::blocks_together(const ScanTile& tile) const {
  const int shares = (tile.blocks + values_.most_blocks() - 1) / values_.most_blocks();
  return (tile.blocks + shares - 1) / shares;
}

void SharedSearch::share_blocks(const ScanTile& tile, int first_block, int end_block) {
  lay_out_sketches(codec_, tile, first_block, end_block, sketches_.get());
  decode_shared_rows(codec_, tile, first_block, end_block, &values_);
}

void SharedSearch::take_matches(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                                const ScoreGoal* goals, float* thresholds, TopK* best) {
  SharedMatches& matches = found_->matches;
  if (codec_.stages().size() == 2) keep_by_second_stage(codec_, values_, goals, &matches);
  for (int i = 0; i < matches.count; ++i) {
    const int goal = matches.goals[i];
    const uint32_t row = matches.rows[i];
    const MatchedRow match = {values_.first_row + row,
                              values_.terms(row).terms,
                              {matches.dots[0][i], matches.dots[1][i]}};
    push_by_dots(codec_, tile, *queries[first + goal].scan, match, true, &best[goal]);
    thresholds[goal] = -best[goal].worst_key();
  }
  matches.count = 0;
}

void SharedSearch::search_shared(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                                 std::span<const float> sketch_thresholds, TopK* best) {
  // A search that failed may have left some.
  found_->matches.count = 0;
  const int64_t count = std::ssize(thresholds_);
  for (int64_t from = 0; from < count; from += kQueriesTogether) {
    const auto together = static_cast<int>(std::min<int64_t>(kQueriesTogether, count - from));
    float* const thresholds = thresholds_.data() + from;
    SketchSelection selections[kQueriesTogether];
    ScoreGoal goals[kQueriesTogether];
    for (int i = 0; i < together; ++i) {
      const SharedQueries::Query& query = queries[first + from + i];
      const float error_bound =
          has_error_bound_ ? query.scan->error_bound.at(query.scan->score, values_.max_scale,
                                                        values_.max_constant)
                           : 0;
      goals[i] = {&query.values, lowered_threshold(thresholds[i], error_bound), thresholds[i]};
      const float by_sketch =
          sketch_thresholds.empty()
              ? thresholds[i]
              : std::max(thresholds[i], sketch_thresholds[static_cast<size_t>(from + i)]);
      selections[i] = {&query.sketch, by_sketch, &found_->candidates[i]};
    }
    select_rows(codec_, *sketches_, {selections, static_cast<size_t>(together)});
    for (int i = 0; i < together; ++i) {
      if (i + 1 < together) fetch_values(codec_, queries[first + from + i + 1].values);
      CandidateRows& candidates = found_->candidates[i];
      if (!found_->matches.fits(candidates.count))
        take_matches(tile, queries, first + from, goals, thresholds, best + from);
      if (candidates.count > 0)
        find_shared_matches(codec_, values_, goals, i, &candidates, &found_->matches);
    }
    take_matches(tile, queries, first + from, goals, thresholds, best + from);
  }
}

// A bound that about `wanted` rows of the tile reach, judged by those of its first blocks.
float SharedSearch::promising_bound(const ScanTile& tile, const ScanQuery& query, int64_t wanted) {
  Sample sample;
  constexpr float kEveryRow = -std::numeric_limits<float>::infinity();
  CandidateSearch every = {&query, kEveryRow, {sample.candidates, sample.bounds, 0}, {}};
  find_sketch_candidates(codec_, tile, 0, std::min(tile.blocks, kSampleBlocks), &every, 1);
  const int count = every.found.count;
  const int64_t rank = wanted * count / (int64_t{tile.blocks} * kBlockRows);
  if (rank >= count - 1) return kEveryRow;
  std::partial_sort(sample.bounds, sample.bounds + rank + 1, sample.bounds + count,
                    std::greater<>());
  return sample.bounds[rank];
}

void SharedSearch::seed(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                        int64_t end, TopK* best) {
  if (tile.blocks == 0) return;
  best += first;
  const auto count = static_cast<size_t>(end - first);
  const int64_t k = best[0].k();
  std::vector<TopK> seeds(count, TopK(k));
  thresholds_.assign(count, -std::numeric_limits<float>::infinity());
  std::vector<float> promising(count);
  for (size_t i = 0; i < count; ++i)
    promising[i] =
        promising_bound(tile, *queries[first + static_cast<int64_t>(i)].scan, promising_rows(k));
  has_error_bound_ = false;
  const int together = blocks_together(tile);
  for (int block = 0; block < tile.blocks; block += together) {
    share_blocks(tile, block, std::min(tile.blocks, block + together));
    search_shared(tile, queries, first, promising, seeds.data());
  }
  for (size_t i = 0; i < count; ++i) best[i].lower_limit(seeds[i].worst_key());
}

void SharedSearch::search(const ScanTile& tile, const SharedQueries& queries, int64_t first,
                          int64_t end, TopK* best) {
  if (tile.blocks == 0) return;
  best += first;
  const int64_t count = end - first;
  thresholds_.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) thresholds_[static_cast<size_t>(i)] = -best[i].worst_key();
  has_error_bound_ = queries[first].scan->error_bound.per_scale != 0;
  const int together = blocks_together(tile);
  for (int block = 0; block < tile.blocks; block += together) {
    share_blocks(tile, block, std::min(tile.blocks, block + together));
    search_shared(tile, queries, first, {}, best);
  }
}

}  // namespace polarquant
