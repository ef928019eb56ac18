// SPDX-License-Identifier: MIT
#include "src/scan/search/dense_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/core/parallel.h"
#include "src/scan/kernels/bounds/load_terms.h"
#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/kernels/decode/squared_norms.h"
#include "src/scan/search/match_score.h"

namespace polarquant {
namespace {

/// More lanes take longer in one step than by the first stage, or by scores of both: 768 dimensions
/// on a Xeon with AMX, 1.3 and 1.15 times as long. Without AMX the first stage's products, of half
/// as many lanes, are the faster ones where bounds leave rows out.
constexpr int kMostOneStepLanes = 512;

}  // namespace

DenseForm dense_form(const ScanCodec& codec, bool bounded) {
  if (codec.has_split_stages() && (panel_dots_use_amx() || !bounded) &&
      OneStepLanes(codec).lanes() <= kMostOneStepLanes)
    return DenseForm::one_step;
  return bounded && codec.stages().size() == 2 ? DenseForm::first_stage : DenseForm::scores;
}

int dense_lanes(const ScanCodec& codec, DenseForm form) {
  switch (form) {
    case DenseForm::one_step:
      return OneStepLanes(codec).lanes();
    case DenseForm::first_stage:
      return FirstStageLanes(codec).lanes();
    case DenseForm::scores:
      break;
  }
  return codec.lanes();
}

QueryPanels::QueryPanels(const ScanCodec& codec, std::span<const ScanQuery> queries, DenseForm form,
                         int threads)
    : codec_(codec), queries_(queries), form_(form) {
  if (form_ == DenseForm::one_step) one_step_.emplace(codec);
  if (form_ == DenseForm::first_stage) first_stage_.emplace(codec);
  const int64_t panels = panels_of(size());
  const size_t stages =
      form_ == DenseForm::scores ? panels_of_stage(codec.stages().size() - 1) + 1 : 1;
  for (size_t stage = 0; stage < stages; ++stage)
    panels_.emplace_back(static_cast<size_t>(panels * panel_levels(stage)));
  constants_.resize(static_cast<size_t>(panels));
  if (form_ != DenseForm::scores) hit_queries_.resize(queries.size());
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
  const auto put = [&](size_t stage, const int8_t* levels) {
    const int64_t size = panel_levels(stage);
    put_in_panel(levels, static_cast<int>(size / kPanelQueries), slot,
                 panels_[stage].data() + panel * size);
  };
  if (form_ == DenseForm::scores) {
    constants.dot_scale[0][slot] = query.score.dot_scale[0];
    constants.dot_scale[1][slot] = query.score.dot_scale[1];
    for (size_t stage = 0; stage < panels_.size(); ++stage)
      put(stage, query.levels.data() + codec_.stages()[stage].first_lane());
    return;
  }
  AlignedVector<int8_t> lanes(static_cast<size_t>(panel_levels(0) / kPanelQueries));
  if (one_step_) {
    const OneStepLanes::Scales scales = one_step_->put_query(query, lanes.data());
    constants.dot_scale[0][slot] = scales.dot_scale;
    constants.margin[slot] = scales.margin;
  } else {
    constants.dot_scale[0][slot] = query.first_stage.slope;
    constants.margin[slot] = first_stage_->put_query(query, lanes.data());
    constants.energy_slope[slot] = query.first_stage.energy_slope;
  }
  put(0, lanes.data());
  const LevelStage& second = codec_.stages()[1];
  const int8_t* levels = query.levels.data() + second.first_lane();
  hit_queries_[static_cast<size_t>(q)] = {
      {query.levels.data(), levels},
      std::accumulate(levels, levels + second.lanes(), int32_t{0}),
      query.score};
}

DenseSearch::DenseSearch(const ScanCodec& codec, DenseForm form, bool bounded)
    : codec_(codec),
      bounded_(bounded),
      form_(form),
      hits_(kChunkRows * kMaxPanelsTogether * kPanelQueries + 4) {
  const auto add_levels = [&](int lanes) {
    levels_.emplace_back(static_cast<size_t>(lanes) * kChunkRows);
  };
  dots_[0].resize(hits_.size());
  const int first_lanes = codec.stages()[0].lanes();
  switch (form_) {
    case DenseForm::scores:
      for (const LevelStage& stage : codec.stages()) add_levels(stage.lanes());
      if (codec.stages().size() == 2) dots_[1].resize(hits_.size());
      break;
    case DenseForm::one_step: {
      one_step_.emplace(codec);
      const int lanes = one_step_->lanes();
      add_levels(lanes);
      hit_rows_ = {false,          {levels_[0].data(), levels_[0].data() + first_lanes},
                   {lanes, lanes}, {first_lanes, lanes - first_lanes},
                   terms_.scale,   terms_.constant};
      break;
    }
    case DenseForm::first_stage: {
      first_stage_.emplace(codec);
      const int second_lanes = codec.stages()[1].lanes();
      add_levels(first_stage_->lanes());
      add_levels(second_lanes);
      hit_rows_ = {true,
                   {levels_[0].data(), levels_[1].data()},
                   {first_stage_->lanes(), second_lanes},
                   {first_lanes, second_lanes},
                   terms_.scale,
                   terms_.constant};
      break;
    }
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
  RowPlace at[kChunkRows];
  for (int i = 0; i < count; ++i)
    at[i] = place_of(tile, static_cast<uint32_t>(block * kBlockRows + i));
  const auto decode = [&](size_t stage) {
    decode_level_rows(codec_, codec_.stages()[stage], at, count, levels_[stage].data());
  };
  switch (form_) {
    case DenseForm::scores:
      for (size_t stage = 0; stage < codec_.stages().size(); ++stage) decode(stage);
      set_energies(codec_.stages()[0].lanes(), count);
      break;
    case DenseForm::one_step:
      one_step_->put_rows(at, count, levels_[0].data());
      chunk_terms_.margin_unit = longest_row(levels_[0].data(), one_step_->lanes(), count);
      set_energies(one_step_->lanes(), count);
      break;
    case DenseForm::first_stage: {
      first_stage_->put_rows(at, count, levels_[0].data());
      decode(1);
      const int lanes = codec_.stages()[1].lanes();
      set_operand_rows(levels_[1].data(), count, lanes, static_cast<size_t>(lanes));
      set_energies(first_stage_->lanes(), count);
      const bool l2 = codec_.metric() == Metric::l2;
      set_bound_rows(l2 ? terms_.bias : terms_.scale, terms_.constant, terms_.energy, &bound_rows_);
      break;
    }
  }
}

// For bounds of split stages. The first one's levels begin each row, `stride` bytes from the one
// before.
void DenseSearch::set_energies(int stride, int count) {
  if (!bounded_ || !codec_.has_split_stages()) return;
  level_energies(levels_[0].data(), codec_.stages()[0].lanes(), count, static_cast<size_t>(stride),
                 terms_.energy);
}

ScanTerms DenseSearch::terms_of(int row) const {
  const float norm = codec_.metric() == Metric::l2 ? terms_.bias[row] : terms_.scale[row];
  return {terms_.scale[row], terms_.constant[row], norm, terms_.energy[row]};
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
  const auto multiply = [&](size_t stage, int lanes) {
    panel_dots(levels_[stage].data(), lanes, panels.panel(stage, first_panel), count,
               dots_[stage].data());
  };
  const auto find_scores = [&](const int32_t* second_dots) {
    return find_dense_hits(dots_[0].data(), second_dots, count, constants, thresholds, chunk_terms_,
                           hits_.data());
  };
  const auto keep_hits = [&](bool first_is_known, int hits) {
    return keep_bound_hits(hit_rows_, panels.hit_queries(first_panel * kPanelQueries), thresholds,
                           first_is_known, hits_.data(), hits);
  };
  switch (form_) {
    case DenseForm::scores:
      break;
    case DenseForm::one_step:
      multiply(0, one_step_->lanes());
      return keep_hits(false, find_scores(nullptr));
    case DenseForm::first_stage:
      multiply(0, first_stage_->lanes());
      return keep_hits(
          first_stage_->is_first_stage(),
          find_bound_hits(dots_[0].data(), count, constants, bound_thresholds_.data() + first_slot,
                          bound_rows_, hits_.data()));
  }
  const std::vector<LevelStage>& stages = codec_.stages();
  for (size_t stage = 0; stage < stages.size(); ++stage) multiply(stage, stages[stage].lanes());
  return find_scores(stages.size() == 2 ? dots_[1].data() : nullptr);
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
