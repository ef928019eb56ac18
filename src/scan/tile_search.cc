// SPDX-License-Identifier: MIT
#include "src/scan/tile_search.h"

#include <algorithm>

#include "src/scan/kernels/sign_dots.h"
#include "src/scan/kernels/sign_survivors.h"
#include "src/scan/kernels/survivor_dots.h"
#include "src/scan/row_levels.h"

namespace polarquant {
namespace {

int64_t id_of(const ScanTile& tile, uint32_t row) {
  return tile.first_row[row / kBlockRows] + row % kBlockRows;
}

}  // namespace

TileSearch::TileSearch(const ScanCodec& codec)
    : codec_(codec),
      survivors_(kQueriesTogether * kListRoom),
      terms_(kListRoom),
      sign_bounds_(kListRoom),
      dots_{AlignedVector<int32_t>(kListRoom), AlignedVector<int32_t>(kListRoom)},
      levels_(static_cast<size_t>(codec.lanes())) {}

// The least of score and bounds, as a key: smaller is better. The bounds that rows were kept by are
// at hand; the Hamming distance is found again for the few that come so far.
float TileSearch::key_of(const ScanTile& tile, const ScanQuery& query, int kept, uint32_t row,
                         float score) const {
  const ScanTerms& terms = terms_[static_cast<size_t>(kept)];
  float least = std::min(score, sign_bounds_[static_cast<size_t>(kept)]);
  least = std::min(
      least, hamming_bound(query, terms, hamming_distance(codec_, query, place_of(tile, row))));
  if (codec_.stages().size() == 2) {
    const int32_t first_dot = dots_[0][static_cast<size_t>(kept)];
    least = std::min(least, dot_bound(query.score, query.first_stage, terms, first_dot));
  }
  return -least;
}

// Scores rows whose terms_ and sign_bounds_ stand ready.
void TileSearch::score_rows(const ScanTile& tile, const ScanQuery& query, uint32_t* rows, int count,
                            TopK* best) {
  if (count == 0) return;
  const auto& stages = codec_.stages();
  int32_t* first = dots_[0].data();
  int32_t* second = dots_[1].data();
  survivor_dots(tile, codec_, stages[0], query, rows, count, levels_.data(), first);
  if (stages.size() == 2) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      const auto from = static_cast<size_t>(i);
      const auto to = static_cast<size_t>(kept);
      const float bound = dot_bound(query.score, query.first_stage, terms_[from], first[i]);
      rows[kept] = rows[i];
      first[kept] = first[i];
      terms_[to] = terms_[from];
      sign_bounds_[to] = sign_bounds_[from];
      kept += -bound <= best->worst_key() ? 1 : 0;
    }
    count = kept;
    if (count == 0) return;
    survivor_dots(tile, codec_, stages[1], query, rows, count, levels_.data(), second);
  }
  for (int i = 0; i < count; ++i) {
    const ScanTerms& terms = terms_[static_cast<size_t>(i)];
    const float score = stages.size() == 2 ? goodness(query.score, terms, first[i], second[i])
                                           : goodness(query.score, terms, first[i]);
    if (!(-score <= best->worst_key())) continue;
    best->push({key_of(tile, query, i, rows[i], score), -score, id_of(tile, rows[i])});
  }
}

// One query's survivors lie far apart; those that the signs keep are decoded next.
void TileSearch::prefetch_codes(const ScanTile& tile, const uint32_t* rows, int count) const {
  const BlockLayout& layout = codec_.layout();
  for (int i = 0; i < count; ++i) {
    const uint8_t* rest = row_rest(layout, place_of(tile, rows[i]));
    for (size_t at = 0; at < layout.rest_bytes() + 64; at += 64) __builtin_prefetch(rest + at);
  }
}

void TileSearch::search_together(const ScanTile& tile, const ScanQuery* queries, int count,
                                 TopK* best) {
  SurvivorSearch searches[kQueriesTogether];
  for (int i = 0; i < count; ++i) {
    searches[i].query = &queries[i];
    searches[i].threshold = -best[i].worst_key();
    searches[i].survivors = survivors_.data() + static_cast<size_t>(i) * kListRoom;
  }
  find_sign_survivors(codec_, tile, searches, count);
  if (count == 1) prefetch_codes(tile, searches[0].survivors, searches[0].count);
  for (int i = 0; i < count; ++i) {
    uint32_t* rows = searches[i].survivors;
    const int kept =
        keep_by_sign_dot(codec_, tile, queries[i], searches[i].threshold,
                         {rows, terms_.data(), sign_bounds_.data()}, searches[i].count);
    score_rows(tile, queries[i], rows, kept, &best[i]);
  }
}

void TileSearch::search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best) {
  if (tile.blocks == 0) return;
  for (int64_t first = 0; first < count; first += kQueriesTogether) {
    const int together = static_cast<int>(std::min<int64_t>(kQueriesTogether, count - first));
    search_together(tile, queries + first, together, best + first);
  }
}

}  // namespace polarquant
