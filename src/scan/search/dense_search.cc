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
QueryTiles::QueryTiles(const ScanCodec& codec, std::span<const ScanQuery> queries, DenseForm form,
                       int threads)
    : codec_(codec), queries_(queries), form_(form) {
  if (form_ == DenseForm::one_step) one_step_.emplace(codec);
  if (form_ == DenseForm::first_stage) first_stage_.emplace(codec);
  const int64_t query_tiles = query_tiles_of(size());
  const size_t stages =
      form_ == DenseForm::scores ? query_tiles_of_stage(codec.stages().size() - 1) + 1 : 1;
  for (size_t stage = 0; stage < stages; ++stage)
    query_tiles_.emplace_back(static_cast<size_t>(query_tiles * query_tile_values(stage)));
  constants_.resize(static_cast<size_t>(query_tiles));
  bases_.resize(static_cast<size_t>(query_tiles) * tile_bases());
  if (form_ != DenseForm::scores) match_queries_.resize(queries.size());
  parallel_for(query_tiles, thread_count(threads, query_tiles), [&](int64_t query_tile, int) {
    const int64_t first = query_tile * kTileQueries;
    for (int64_t q = first; q < std::min(size(), first + kTileQueries); ++q)
      put_query(q, query_tile, static_cast<int>(q - first));
  });
}

void QueryTiles::put_query(int64_t q, int64_t query_tile, int slot) {
  const ScanQuery& query = queries_[static_cast<size_t>(q)];
  QueryTileConstants& constants = constants_[static_cast<size_t>(query_tile)];
  constants.base[slot] = query.score.base;
  constants.weight[slot] = query.score.weight;
  size_t at = static_cast<size_t>(query_tile) * tile_bases() + static_cast<size_t>(slot);
  for (const float base : query.centroid_bases) {
    bases_[at] = base;
    at += kTileQueries;
  }
  const auto put = [&](size_t stage, const int8_t* values) {
    const int64_t size = query_tile_values(stage);
    put_in_query_tile(values, static_cast<int>(size / kTileQueries), slot,
                      query_tiles_[stage].data() + query_tile * size);
  };
  if (form_ == DenseForm::scores) {
    constants.dot_scale[0][slot] = query.score.dot_scale[0];
    constants.dot_scale[1][slot] = query.score.dot_scale[1];
    for (size_t stage = 0; stage < query_tiles_.size(); ++stage)
      put(stage, query.values.data() + codec_.stages()[stage].first_position());
    return;
  }
  AlignedVector<int8_t> query_values(static_cast<size_t>(query_tile_values(0) / kTileQueries));
  if (one_step_) {
    const OneStepVectors::Scales scales = one_step_->put_query(query, query_values.data());
    constants.dot_scale[0][slot] = scales.dot_scale;
    constants.margin[slot] = scales.margin;
  } else {
    constants.dot_scale[0][slot] = query.first_stage.slope;
    constants.margin[slot] = first_stage_->put_query(query, query_values.data());
    constants.squared_norm_slope[slot] = query.first_stage.squared_norm_slope;
  }
  put(0, query_values.data());
  const Int8Stage& second = codec_.stages()[1];
  const int8_t* values = query.values.data() + second.first_position();
  match_queries_[static_cast<size_t>(q)] = {
      {query.values.data(), values},
      std::accumulate(values, values + second.padded_dim(), int32_t{0}),
      query.score};
}

DenseSearch::DenseSearch(const ScanCodec& codec, DenseForm form, bool bounded)
    : codec_(codec),
      bounded_(bounded),
      form_(form),
      matches_(kChunkRows * kMaxQueryTilesTogether * kTileQueries + 4) {
  const auto add_values = [&](int padded_dim) {
    values_.emplace_back(static_cast<size_t>(padded_dim) * kChunkRows);
  };
  dots_[0].resize(matches_.size());
  const int first_dims = codec.stages()[0].padded_dim();
  switch (form_) {
    case DenseForm::scores:
      for (const Int8Stage& stage : codec.stages()) add_values(stage.padded_dim());
      if (codec.stages().size() == 2) dots_[1].resize(matches_.size());
      break;
    case DenseForm::one_step: {
      one_step_.emplace(codec);
      const int padded_dim = one_step_->padded_dim();
      add_values(padded_dim);
      match_rows_ = {false,
                     {values_[0].data(), values_[0].data() + first_dims},
                     {padded_dim, padded_dim},
                     {first_dims, padded_dim - first_dims},
                     terms_.scale,
                     terms_.constant};
      break;
    }
    case DenseForm::first_stage: {
      first_stage_.emplace(codec);
      const int second_dims = codec.stages()[1].padded_dim();
      add_values(first_stage_->padded_dim());
      add_values(second_dims);
      match_rows_ = {true,
                     {values_[0].data(), values_[1].data()},
                     {first_stage_->padded_dim(), second_dims},
                     {first_dims, second_dims},
                     terms_.scale,
                     terms_.constant};
      break;
    }
  }
}

void DenseSearch::decode_block(const ScanTile& tile, int block) {
  load_block_terms(codec_, tile.sketch[block], tile.capacity[block], terms_.scale, terms_.constant,
                   terms_.bias);
  for (int row = 0; row < kChunkRows; ++row) {
    if ((tile.allowed[block] >> row & 1) == 0)
      terms_.constant[row] = std::numeric_limits<float>::quiet_NaN();
  }
  chunk_terms_ = make_chunk_terms(terms_.scale, terms_.constant);
  if (codec_.has_centroids())
    load_centroids(codec_, tile.sketch[block], tile.capacity[block], terms_.centroid);
  // Places after the last row have no payload to decode.
  const int count = std::bit_width(tile.allowed[block]);
  RowPlace at[kChunkRows];
  for (int i = 0; i < count; ++i)
    at[i] = place_of(tile, static_cast<uint32_t>(block * kBlockRows + i));
  const auto decode = [&](size_t stage) {
    decode_int8_rows(codec_, codec_.stages()[stage], at, count, values_[stage].data());
  };
  switch (form_) {
    case DenseForm::scores:
      for (size_t stage = 0; stage < codec_.stages().size(); ++stage) decode(stage);
      set_squared_norms(codec_.stages()[0].padded_dim(), count);
      break;
    case DenseForm::one_step:
      one_step_->put_rows(at, count, values_[0].data());
      chunk_terms_.margin_unit = longest_row(values_[0].data(), one_step_->padded_dim(), count);
      set_squared_norms(one_step_->padded_dim(), count);
      break;
    case DenseForm::first_stage: {
      first_stage_->put_rows(at, count, values_[0].data());
      decode(1);
      const int padded_dim = codec_.stages()[1].padded_dim();
      set_operand_rows(values_[1].data(), count, padded_dim, static_cast<size_t>(padded_dim));
      set_squared_norms(first_stage_->padded_dim(), count);
      const bool l2 = codec_.metric() == Metric::l2;
      set_bound_rows(l2 ? terms_.bias : terms_.scale, terms_.constant, terms_.squared_norm,
                     &bound_rows_);
      break;
    }
  }
}

// For bounds of split stages. The first stage's values begin each row, every `stride` bytes.
void DenseSearch::set_squared_norms(int stride, int count) {
  if (!bounded_ || !codec_.has_split_stages()) return;
  int8_squared_norms(values_[0].data(), codec_.stages()[0].padded_dim(), count,
                     static_cast<size_t>(stride), terms_.squared_norm);
}

ScanTerms DenseSearch::terms_of(int row) const {
  const float norm = codec_.metric() == Metric::l2 ? terms_.bias[row] : terms_.scale[row];
  const float squared_norm =
      codec_.has_centroids() ? static_cast<float>(terms_.centroid[row]) : terms_.squared_norm[row];
  return {terms_.scale[row], terms_.constant[row], norm, squared_norm};
}

// The least that some row of the block must reach to be one of the best.
void DenseSearch::set_threshold(const ScanQuery& query, const TopK& best, int64_t slot) {
  const float constant =
      std::max(std::fabs(chunk_terms_.min_constant), std::fabs(chunk_terms_.max_constant));
  ScoreConstants score = query.score;
  if (codec_.has_centroids()) {
    score.base = query.largest_base;
    score.weight = query.weighs_by_base ? query.largest_base : 1;
  }
  const float error_bound = query.error_bound.at(score, chunk_terms_.max_scale, constant);
  thresholds_[static_cast<size_t>(slot)] = lowered_threshold(-best.worst_key(), error_bound);
  bound_thresholds_[static_cast<size_t>(slot)] = -best.worst_key();
}

int DenseSearch::find_matches(const TilesTogether& together) {
  // Not by a structured binding: clang before 16 takes none into lambdas.
  const QueryTiles& query_tiles = together.tiles;
  const int64_t first_query_tile = together.first;
  const int count = together.count;
  const int64_t first_slot = together.first_slot;
  const float* thresholds = thresholds_.data() + first_slot;
  const QueryTileConstants* constants = query_tiles.constants(first_query_tile);
  const auto multiply = [&](size_t stage, int padded_dim) {
    query_tile_dots(values_[stage].data(), padded_dim,
                    query_tiles.query_tile(stage, first_query_tile), count, dots_[stage].data());
  };
  const auto find_scores = [&](const int32_t* second_dots) {
    return find_dense_matches(dots_[0].data(), second_dots, count, constants, thresholds,
                              chunk_terms_, matches_.data());
  };
  const auto keep_matches = [&](bool first_is_known, int matches) {
    return keep_bound_matches(match_rows_,
                              query_tiles.match_queries(first_query_tile * kTileQueries),
                              thresholds, first_is_known, matches_.data(), matches);
  };
  switch (form_) {
    case DenseForm::scores:
      break;
    case DenseForm::one_step:
      multiply(0, one_step_->padded_dim());
      return keep_matches(false, find_scores(nullptr));
    case DenseForm::first_stage:
      multiply(0, first_stage_->padded_dim());
      return keep_matches(
          first_stage_->is_first_stage(),
          find_bound_matches(dots_[0].data(), count, constants,
                             bound_thresholds_.data() + first_slot, bound_rows_, matches_.data()));
  }
  const std::vector<Int8Stage>& stages = codec_.stages();
  for (size_t stage = 0; stage < stages.size(); ++stage)
    multiply(stage, stages[stage].padded_dim());
  if (codec_.has_centroids())
    return find_centroid_matches(dots_[0].data(), count, constants,
                                 query_tiles.bases(first_query_tile), thresholds,
                                 {terms_.scale, terms_.constant, terms_.centroid}, matches_.data());
  return find_scores(stages.size() == 2 ? dots_[1].data() : nullptr);
}

void DenseSearch::search_query_tiles(const ScanTile& tile, int block, const TilesTogether& together,
                                     TopK* best) {
  const int matches = find_matches(together);
  const int64_t first_query = together.first * kTileQueries;
  const int first_row = block * kBlockRows;
  for (int i = 0; i < matches; ++i) {
    const DenseMatch& match = matches_[static_cast<size_t>(i)];
    TopK& best_of_query = best[first_query + match.query];
    const ScanQuery& query = together.tiles.queries()[first_query + match.query];
    push_by_dots(codec_, tile, query,
                 {static_cast<uint32_t>(first_row + match.row),
                  terms_of(match.row),
                  {match.dot[0], match.dot[1]}},
                 bounded_, &best_of_query);
    set_threshold(query, best_of_query, together.first_slot + match.query);
  }
}

void DenseSearch::search(const ScanTile& tile, const QueryTiles& query_tiles, int64_t first,
                         int64_t end, TopK* best) {
  const int64_t end_query_tile = query_tiles_of(end);
  const auto slots = static_cast<size_t>(end_query_tile * kTileQueries - first);
  thresholds_.assign(slots, std::numeric_limits<float>::infinity());
  bound_thresholds_ = thresholds_;
  const int together = query_tiles_together();
  // The error bound is that of the block's largest scale.
  const bool by_block = query_tiles.queries()[first].error_bound.per_scale != 0;
  const QueryTileSession session;
  for (int block = 0; block < tile.blocks; ++block) {
    decode_block(tile, block);
    fetch_payloads(codec_.layout(), tile, block + 1);
    if (block == 0 || by_block) {
      for (int64_t q = first; q < end; ++q)
        set_threshold(query_tiles.queries()[q], best[q], q - first);
    }
    for (int64_t query_tile = first / kTileQueries; query_tile < end_query_tile;
         query_tile += together) {
      const int count = static_cast<int>(std::min<int64_t>(together, end_query_tile - query_tile));
      search_query_tiles(tile, block,
                         {query_tiles, query_tile, count, query_tile * kTileQueries - first}, best);
    }
  }
}

}  // namespace polarquant
