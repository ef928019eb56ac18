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

namespace {

bool bounds_by_first_stage(const ScanCodec& codec, bool bounded) {
  return bounded && codec.stages().size() == 2;
}

}  // namespace

int dense_lanes(const ScanCodec& codec) {
  return bounds_by_first_stage(codec, true) ? FirstStageLanes(codec).lanes() : codec.lanes();
}

QueryPanels::QueryPanels(const ScanCodec& codec, std::span<const ScanQuery> queries, bool bounded,
                         int threads)
    : codec_(codec), queries_(queries) {
  if (bounds_by_first_stage(codec, bounded)) first_stage_.emplace(codec);
  const int64_t panels = panels_of(size());
  const size_t stages = first_stage_ ? 1 : panels_of_stage(codec.stages().size() - 1) + 1;
  for (size_t stage = 0; stage < stages; ++stage)
    panels_.emplace_back(static_cast<size_t>(panels * panel_levels(stage)));
  constants_.resize(static_cast<size_t>(panels));
  if (first_stage_) hit_queries_.resize(queries.size());
  parallel_for(panels, thread_count(threads, panels), [&](int64_t panel, int) {
    const int64_t first = panel * kPanelQueries;
    for (int64_t q = first; q < std::min(size(), first + kPanelQueries); ++q)
      put_query(q, panel, static_cast<int>(q - first));
  });
}

void QueryPanels::put_query(int64_t q, int64_t panel, int slot) {
  const ScanQuery& query = queries_[static_cast<size_t>(q)];
  PanelConstants& constants = constants_[static_cast<size_t>(panel)];
  constants.base[slot] = query.score.base;
  constants.weight[slot] = query.score.weight;
  if (first_stage_) {
    AlignedVector<int8_t> lanes(static_cast<size_t>(first_stage_->lanes()));
    constants.dot_scale[0][slot] = query.first_stage.slope;
    constants.margin[slot] = first_stage_->put_query(query, lanes.data());
    put_in_panel(lanes.data(), first_stage_->lanes(), slot,
                 panels_[0].data() + panel * panel_levels(0));
    const LevelStage& second = codec_.stages()[1];
    const int8_t* levels = query.levels.data() + second.first_lane();
    hit_queries_[static_cast<size_t>(q)] = {
        {query.levels.data(), levels},
        std::accumulate(levels, levels + second.lanes(), int32_t{0}),
        query.score};
    return;
  }
  constants.dot_scale[0][slot] = query.score.dot_scale[0];
  constants.dot_scale[1][slot] = query.score.dot_scale[1];
  for (size_t i = 0; i < panels_.size(); ++i) {
    const LevelStage& stage = codec_.stages()[i];
    put_in_panel(query.levels.data() + stage.first_lane(), stage.lanes(), slot,
                 panels_[i].data() + panel * panel_levels(i));
  }
}

DenseSearch::DenseSearch(const ScanCodec& codec, bool bounded)
    : codec_(codec), bounded_(bounded), hits_(kChunkRows * kMaxPanelsTogether * kPanelQueries + 4) {
  if (bounds_by_first_stage(codec, bounded)) first_stage_.emplace(codec);
  for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
    const int lanes =
        stage == 0 && first_stage_ ? first_stage_->lanes() : codec.stages()[stage].lanes();
    levels_.emplace_back(static_cast<size_t>(lanes) * kChunkRows);
    dots_[stage].resize(hits_.size());
  }
  if (first_stage_) {
    const int second_lanes = codec.stages()[1].lanes();
    hit_rows_ = {{levels_[0].data(), levels_[1].data()},
                 {first_stage_->lanes(), second_lanes},
                 {codec.stages()[0].lanes(), second_lanes},
                 terms_.scale,
                 terms_.constant};
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
  if (first_stage_) {
    const bool l2 = codec_.metric() == Metric::l2;
    set_bound_rows(l2 ? terms_.bias : terms_.scale, terms_.constant, &bound_rows_);
  }
  // Room behind the last row has no rest to decode.
  const int count = std::bit_width(tile.allowed[block]);
  RowPlace at[kChunkRows];
  for (int i = 0; i < count; ++i)
    at[i] = place_of(tile, static_cast<uint32_t>(block * kBlockRows + i));
  for (size_t stage = 0; stage < codec_.stages().size(); ++stage) {
    if (stage == 0 && first_stage_) {
      first_stage_->put_rows(at, count, levels_[0].data());
    } else {
      decode_level_rows(codec_, codec_.stages()[stage], at, count, levels_[stage].data());
    }
  }
  if (first_stage_) {
    const int lanes = codec_.stages()[1].lanes();
    set_operand_rows(levels_[1].data(), count, lanes, static_cast<size_t>(lanes));
  }
}

ScanTerms DenseSearch::terms_of(int row) const {
  const float norm = codec_.metric() == Metric::l2 ? terms_.bias[row] : terms_.scale[row];
  return {terms_.scale[row], terms_.constant[row], norm};
}

// What some row of the block must reach to be one of the best.
void DenseSearch::set_threshold(const ScanQuery& query, const TopK& best, int64_t slot) {
  const float constant =
      std::max(std::fabs(chunk_terms_.min_constant), std::fabs(chunk_terms_.max_constant));
  const float slack = query.slack.of(query.score, chunk_terms_.max_scale, constant);
  thresholds_[static_cast<size_t>(slot)] = lowered_threshold(-best.worst_key(), slack);
  bound_thresholds_[static_cast<size_t>(slot)] = -best.worst_key();
}

int DenseSearch::find_hits(const QueryPanels& panels, int64_t first_panel, int count,
                           int64_t first_slot) {
  const float* thresholds = thresholds_.data() + first_slot;
  const PanelConstants* constants = panels.constants(first_panel);
  if (first_stage_) {
    panel_dots(levels_[0].data(), first_stage_->lanes(), panels.panel(0, first_panel), count,
               dots_[0].data());
    const int hits =
        find_bound_hits(dots_[0].data(), count, constants, bound_thresholds_.data() + first_slot,
                        bound_rows_, hits_.data());
    return keep_bound_hits(hit_rows_, panels.hit_queries(first_panel * kPanelQueries), thresholds,
                           first_stage_->is_first_stage(), hits_.data(), hits);
  }
  const size_t stages = codec_.stages().size();
  for (size_t stage = 0; stage < stages; ++stage) {
    panel_dots(levels_[stage].data(), codec_.stages()[stage].lanes(),
               panels.panel(stage, first_panel), count, dots_[stage].data());
  }
  return find_dense_hits(dots_[0].data(), stages == 2 ? dots_[1].data() : nullptr, count, constants,
                         thresholds, chunk_terms_, hits_.data());
}

void DenseSearch::search_panels(const ScanTile& tile, int block, const QueryPanels& panels,
                                int64_t first_panel, int count, int64_t first_slot, TopK* best) {
  const int hits = find_hits(panels, first_panel, count, first_slot);
  const int64_t first_query = first_panel * kPanelQueries;
  const int first_row = block * kBlockRows;
  for (int i = 0; i < hits; ++i) {
    const DenseHit& hit = hits_[static_cast<size_t>(i)];
    TopK& best_of_query = best[first_query + hit.query];
    const ScanQuery& query = panels.queries()[first_query + hit.query];
    push_by_dots(codec_, tile, static_cast<uint32_t>(first_row + hit.row), query, terms_of(hit.row),
                 hit.dot, bounded_, &best_of_query);
    set_threshold(query, best_of_query, first_slot + hit.query);
  }
}

void DenseSearch::search(const ScanTile& tile, const QueryPanels& panels, int64_t first,
                         int64_t end, TopK* best) {
  const int64_t end_panel = panels_of(end);
  const auto slots = static_cast<size_t>(end_panel * kPanelQueries - first);
  thresholds_.assign(slots, std::numeric_limits<float>::infinity());
  bound_thresholds_ = thresholds_;
  const int together = panels_together();
  // Slack is that of the block's largest scale.
  const bool by_block = panels.queries()[first].slack.per_scale != 0;
  const PanelSession session;
  for (int block = 0; block < tile.blocks; ++block) {
    decode_block(tile, block);
    fetch_rests(codec_.layout(), tile, block + 1);
    if (block == 0 || by_block) {
      for (int64_t q = first; q < end; ++q) set_threshold(panels.queries()[q], best[q], q - first);
    }
    for (int64_t panel = first / kPanelQueries; panel < end_panel; panel += together) {
      const int count = static_cast<int>(std::min<int64_t>(together, end_panel - panel));
      search_panels(tile, block, panels, panel, count, panel * kPanelQueries - first, best);
    }
  }
}

}  // namespace polarquant
