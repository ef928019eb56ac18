// SPDX-License-Identifier: MIT
#include "src/scan/dense_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/core/parallel.h"
#include "src/scan/hit_score.h"
#include "src/scan/kernels/level_rows.h"
#include "src/scan/kernels/load_terms.h"

namespace polarquant {

QueryPanels::QueryPanels(const ScanCodec& codec, std::span<const ScanQuery> queries, int threads)
    : codec_(codec), queries_(queries) {
  const int64_t panels = panels_of(size());
  for (size_t stage = 0; stage <= panels_of_stage(codec.stages().size() - 1); ++stage) {
    panels_.emplace_back(static_cast<size_t>(panels * panel_levels(stage)));
  }
  constants_.resize(static_cast<size_t>(panels));
  parallel_for(panels, thread_count(threads, panels), [&](int64_t panel, int) {
    const int64_t first = panel * kPanelQueries;
    for (int64_t q = first; q < std::min(size(), first + kPanelQueries); ++q)
      put_query(queries_[static_cast<size_t>(q)], panel, static_cast<int>(q - first));
  });
}

void QueryPanels::put_query(const ScanQuery& query, int64_t panel, int slot) {
  PanelConstants& constants = constants_[static_cast<size_t>(panel)];
  constants.base[slot] = query.score.base;
  constants.weight[slot] = query.score.weight;
  constants.dot_scale[0][slot] = query.score.dot_scale[0];
  constants.dot_scale[1][slot] = query.score.dot_scale[1];
  for (size_t i = 0; i < panels_.size(); ++i) {
    const LevelStage& stage = codec_.stages()[i];
    put_in_panel(query.levels.data() + stage.first_lane(), stage.lanes(), slot,
                 panels_[i].data() + panel * panel_levels(i));
  }
}

DenseSearch::DenseSearch(const ScanCodec& codec, bool bounded)
    : codec_(codec), bounded_(bounded), hits_(kChunkRows * kMaxPanelsTogether * kPanelQueries) {
  for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
    const auto levels = static_cast<size_t>(codec.stages()[stage].lanes()) * kChunkRows;
    levels_.emplace_back(levels);
    dots_[stage].resize(hits_.size());
  }
}

void DenseSearch::decode_block(const ScanTile& tile, int block) {
  load_block_terms(codec_, tile.front[block], tile.room[block], terms_.scale, terms_.constant,
                   terms_.bias);
  for (int row = 0; row < kChunkRows; ++row) {
    if ((tile.allowed[block] >> row & 1) == 0)
      terms_.constant[row] = std::numeric_limits<float>::quiet_NaN();
  }
  chunk_terms_ = make_chunk_terms(terms_.scale, terms_.constant);
  // Room behind the last row has no rest to decode.
  const int count = std::bit_width(tile.allowed[block]);
  uint32_t rows[kChunkRows];
  std::iota(rows, rows + count, static_cast<uint32_t>(block * kBlockRows));
  for (size_t stage = 0; stage < codec_.stages().size(); ++stage) {
    decode_level_rows(tile, codec_, codec_.stages()[stage], rows, count, levels_[stage].data());
  }
}

// What the score by levels of some row of the block must reach to be one of the best.
float DenseSearch::threshold(const ScanQuery& query, const TopK& best) const {
  const float constant =
      std::max(std::fabs(chunk_terms_.min_constant), std::fabs(chunk_terms_.max_constant));
  return lowered_threshold(-best.worst_key(),
                           query.slack.of(query.score, chunk_terms_.max_scale, constant));
}

void DenseSearch::search_panels(const ScanTile& tile, int block, const QueryPanels& panels,
                                int64_t first_panel, int count, int64_t first_slot, TopK* best) {
  float* thresholds = thresholds_.data() + first_slot;
  const size_t stages = codec_.stages().size();
  for (size_t stage = 0; stage < stages; ++stage) {
    panel_dots(levels_[stage].data(), codec_.stages()[stage].lanes(),
               panels.panel(stage, first_panel), count, dots_[stage].data());
  }
  const int first_row = block * kBlockRows;
  const int hits =
      find_dense_hits(dots_[0].data(), stages == 2 ? dots_[1].data() : nullptr, count,
                      panels.constants(first_panel), thresholds, chunk_terms_, hits_.data());
  for (int i = 0; i < hits; ++i) {
    const DenseHit& hit = hits_[static_cast<size_t>(i)];
    TopK& best_of_query = best[first_panel * kPanelQueries + hit.query];
    const ScanQuery& query = panels.queries()[first_panel * kPanelQueries + hit.query];
    const auto row = static_cast<uint32_t>(first_row + hit.row);
    const float norm = codec_.metric() == Metric::l2 ? terms_.bias[hit.row] : terms_.scale[hit.row];
    const ScanTerms terms = {terms_.scale[hit.row], terms_.constant[hit.row], norm};
    push_by_dots(codec_, tile, row, query, terms, hit.dot, bounded_, &best_of_query);
    thresholds[hit.query] = threshold(query, best_of_query);
  }
}

void DenseSearch::search(const ScanTile& tile, const QueryPanels& panels, int64_t first,
                         int64_t end, TopK* best) {
  const int64_t end_panel = panels_of(end);
  const auto slots = static_cast<size_t>(end_panel * kPanelQueries - first);
  thresholds_.assign(slots, std::numeric_limits<float>::infinity());
  const int together = panels_together();
  const PanelSession session;
  for (int block = 0; block < tile.blocks; ++block) {
    decode_block(tile, block);
    fetch_rests(codec_.layout(), tile, block + 1);
    for (int64_t q = first; q < end; ++q)
      thresholds_[static_cast<size_t>(q - first)] = threshold(panels.queries()[q], best[q]);
    for (int64_t panel = first / kPanelQueries; panel < end_panel; panel += together) {
      const int count = static_cast<int>(std::min<int64_t>(together, end_panel - panel));
      search_panels(tile, block, panels, panel, count, panel * kPanelQueries - first, best);
    }
  }
}

}  // namespace polarquant
