// SPDX-License-Identifier: MIT
#include "src/scan/tile_search.h"

#include <algorithm>
#include <cmath>

#include "src/scan/kernels/sign_dots.h"
#include "src/scan/kernels/survivor_dots.h"
#include "src/scan/row_levels.h"

namespace polarquant {
namespace {

ScanTerms terms_of(const ScanTile& tile, uint32_t row) {
  return {tile.scale[row], tile.constant[row], tile.norm[row]};
}

int64_t id_of(const ScanTile& tile, uint32_t row) {
  return tile.first_row[row / kBlockRows] + row % kBlockRows;
}

/// The rows of a tile that take part, ascending; returns how many.
int rows_of(const ScanTile& tile, uint32_t* rows) {
  int count = 0;
  for (int row = 0; row < tile.blocks * kBlockRows; ++row) {
    rows[count] = static_cast<uint32_t>(row);
    count += std::isnan(tile.constant[row]) ? 0 : 1;
  }
  return count;
}

}  // namespace

TileSearch::TileSearch(const ScanCodec& codec, bool bounded)
    : codec_(codec),
      bounded_(bounded),
      survivors_(kQueriesTogether * kListRoom),
      sign_bounds_(kListRoom),
      dots_{AlignedVector<int32_t>(kListRoom), AlignedVector<int32_t>(kListRoom)},
      levels_(static_cast<size_t>(codec.lanes())) {}

// The least of score and bounds, as a key: smaller is better. The bounds that survivors were kept by
// are at hand, the Hamming distance is found again for the few that come so far.
float TileSearch::key_of(const ScanTile& tile, const ScanQuery& query, int survivor, uint32_t row,
                         float score) const {
  if (!bounded_) return -score;
  const ScanTerms terms = terms_of(tile, row);
  const RowPlace at = {tile.block[row / kBlockRows], tile.room[row / kBlockRows],
                       static_cast<int>(row % kBlockRows)};
  float least = std::min(score, sign_bounds_[static_cast<size_t>(survivor)]);
  least = std::min(least, hamming_bound(query, terms, hamming_distance(codec_, query, at)));
  if (codec_.stages().size() == 2) {
    const int32_t first_dot = dots_[0][static_cast<size_t>(survivor)];
    least = std::min(least, dot_bound(query.score, query.first_stage, terms, first_dot));
  }
  return -least;
}

void TileSearch::score_survivors(const ScanTile& tile, const ScanQuery& query, uint32_t* rows, int count,
                                 TopK* best) {
  if (count == 0) return;
  const auto& stages = codec_.stages();
  int32_t* first = dots_[0].data();
  int32_t* second = dots_[1].data();
  survivor_dots(tile, codec_, stages[0], query, rows, count, levels_.data(), first);
  if (stages.size() == 2) {
    if (bounded_) {
      int kept = 0;
      for (int i = 0; i < count; ++i) {
        const float bound = dot_bound(query.score, query.first_stage, terms_of(tile, rows[i]), first[i]);
        rows[kept] = rows[i];
        first[kept] = first[i];
        sign_bounds_[static_cast<size_t>(kept)] = sign_bounds_[static_cast<size_t>(i)];
        kept += -bound <= best->worst_key() ? 1 : 0;
      }
      count = kept;
      if (count == 0) return;
    }
    survivor_dots(tile, codec_, stages[1], query, rows, count, levels_.data(), second);
  }
  for (int i = 0; i < count; ++i) {
    const ScanTerms terms = terms_of(tile, rows[i]);
    const float score = stages.size() == 2 ? goodness(query.score, terms, first[i], second[i])
                                           : goodness(query.score, terms, first[i]);
    if (!(-score <= best->worst_key())) continue;
    best->push({key_of(tile, query, i, rows[i], score), -score, id_of(tile, rows[i])});
  }
}

void TileSearch::search_bounded(const ScanTile& tile, const ScanQuery* queries, int count, TopK* best) {
  SurvivorSearch searches[kQueriesTogether];
  for (int i = 0; i < count; ++i) {
    searches[i].query = &queries[i];
    searches[i].threshold = -best[i].worst_key();
    searches[i].survivors = survivors_.data() + static_cast<size_t>(i) * kListRoom;
  }
  const int sign_words = codec_.layout().sign_words();
  find_sign_survivors(tile, sign_words, searches, count);
  for (int i = 0; i < count; ++i) {
    const int kept = keep_by_sign_dot(tile, sign_words, queries[i], searches[i].threshold,
                                      searches[i].survivors, searches[i].count, sign_bounds_.data());
    score_survivors(tile, queries[i], searches[i].survivors, kept, &best[i]);
  }
}

void TileSearch::search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best) {
  if (tile.blocks == 0) return;
  for (int64_t first = 0; first < count; first += kQueriesTogether) {
    const int together = static_cast<int>(std::min<int64_t>(kQueriesTogether, count - first));
    if (bounded_) {
      search_bounded(tile, queries + first, together, best + first);
      continue;
    }
    for (int i = 0; i < together; ++i) {
      const int rows = rows_of(tile, survivors_.data());
      score_survivors(tile, queries[first + i], survivors_.data(), rows, &best[first + i]);
    }
  }
}

}  // namespace polarquant
