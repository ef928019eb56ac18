// SPDX-License-Identifier: MIT
#include "src/scan/kernels/shared_levels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/scan/kernels/level_rows.h"
#include "src/scan/kernels/load_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/shared_levels.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/kernels/dot_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL

/// Four rows' Σ (128 + level)·query level.
HWY_ATTR HWY_INLINE __m128i four_dots(const uint8_t* const (&rows)[4], const int8_t* query,
                                      int lanes) {
  __m512i sums[4] = {};
  for (int lane = 0; lane < lanes; lane += kSegmentLanes) {
    const __m512i levels = _mm512_load_si512(query + lane);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      sums[j] = dot_bytes(sums[j], _mm512_load_si512(rows[j] + lane), levels);
  }
  return sum_each(sums[0], sums[1], sums[2], sums[3]);
}

// The float operations are those of goodness() in their order.
template <bool kTwoStages>
HWY_ATTR int hits_of(const ScanCodec& codec, const SharedLevels& rows, const LevelQuery& query,
                     float threshold, PickedRows* picked, SharedHits* hits) {
  constexpr int kStages = kTwoStages ? 2 : 1;
  const int8_t* levels[kStages];
  int lanes[kStages];
  __m128i bias[kStages];
  __m128 dot_scale[kStages];
  for (size_t stage = 0; stage < kStages; ++stage) {
    levels[stage] = query.levels + codec.stages()[stage].first_lane();
    lanes[stage] = codec.stages()[stage].lanes();
    bias[stage] = _mm_set1_epi32(128 * query.level_sum[stage]);
    dot_scale[stage] = _mm_set1_ps(query.score.dot_scale[stage]);
  }
  const __m128 base = _mm_set1_ps(query.score.base);
  const __m128 weight = _mm_set1_ps(query.score.weight);
  const __m128 least = _mm_set1_ps(threshold);
  int found = 0;
  uint16_t* const all = picked->rows;
  const int count = picked->count;
  for (int i = count; i % 4 != 0; ++i) all[i] = all[count - 1];
  for (int i = 0; i < count; i += 4) {
    const __m128i in_rows =
        _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(all + i)));
    alignas(16) uint32_t row[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(row), in_rows);
    __m128i dots[kStages];
    __m128 sum = _mm_setzero_ps();
#pragma GCC unroll 2
    for (int stage = 0; stage < kStages; ++stage) {
      const uint8_t* data[4];
      for (int j = 0; j < 4; ++j)
        data[j] = rows.levels[stage].data() + static_cast<size_t>(row[j]) * lanes[stage];
      dots[stage] = _mm_sub_epi32(four_dots(data, levels[stage], lanes[stage]), bias[stage]);
      const __m128 part = _mm_mul_ps(dot_scale[stage], _mm_cvtepi32_ps(dots[stage]));
      sum = stage == 0 ? part : _mm_add_ps(sum, part);
    }
    const __m128 scale =
        _mm_setr_ps(rows.scale[row[0]], rows.scale[row[1]], rows.scale[row[2]], rows.scale[row[3]]);
    const __m128 constant = _mm_setr_ps(rows.constant[row[0]], rows.constant[row[1]],
                                        rows.constant[row[2]], rows.constant[row[3]]);
    const __m128 score =
        _mm_add_ps(_mm_add_ps(base, _mm_mul_ps(weight, constant)), _mm_mul_ps(scale, sum));
    // What is no number is left to the search; places that only fill up the last four are not.
    const __mmask8 filled = i + 4 > count ? static_cast<__mmask8>((1U << (count - i)) - 1) : 0x0F;
    const __mmask8 reached = _mm_mask_cmp_ps_mask(filled, score, least, _CMP_NLT_UQ);
    // Without branches: which rows reach is not predictable, and known late.
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hits->rows + found),
                     _mm_maskz_compress_epi32(reached, in_rows));
    for (size_t stage = 0; stage < kStages; ++stage)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(hits->dots[stage] + found),
                       _mm_maskz_compress_epi32(reached, dots[stage]));
    found += std::popcount(static_cast<unsigned>(reached));
  }
  return found;
}

HWY_ATTR int find_hits_of_rows(const ScanCodec& codec, const SharedLevels& rows,
                               const LevelQuery& query, float threshold, PickedRows* picked,
                               SharedHits* hits) {
  const auto& find = codec.stages().size() == 2 ? hits_of<true> : hits_of<false>;
  return find(codec, rows, query, threshold, picked, hits);
}

HWY_ATTR void add_bias(uint8_t* levels, size_t bytes) {
  const __m512i bias = _mm512_set1_epi8(-128);
  for (size_t i = 0; i < bytes; i += 64)
    _mm512_store_si512(levels + i, _mm512_xor_si512(_mm512_load_si512(levels + i), bias));
}

#else

HWY_ATTR int find_hits_of_rows(const ScanCodec& codec, const SharedLevels& rows,
                               const LevelQuery& query, float threshold, PickedRows* picked,
                               SharedHits* hits) {
  const size_t stages = codec.stages().size();
  int found = 0;
  for (int i = 0; i < picked->count; ++i) {
    const uint32_t row = picked->rows[i];
    int32_t dots[2] = {0, 0};
    for (size_t j = 0; j < stages; ++j) {
      const LevelStage& stage = codec.stages()[j];
      const auto* levels = reinterpret_cast<const int8_t*>(rows.levels[j].data()) +
                           row * static_cast<size_t>(stage.lanes());
      dots[j] = dot_row(query.levels + stage.first_lane(), levels, stage.lanes());
    }
    const ScanTerms terms = rows.terms(row);
    const float score = stages == 2 ? goodness(query.score, terms, dots[0], dots[1])
                                    : goodness(query.score, terms, dots[0]);
    hits->rows[found] = row;
    hits->dots[0][found] = dots[0];
    hits->dots[1][found] = dots[1];
    // What is no number is left to the search.
    found += score < threshold ? 0 : 1;
  }
  return found;
}
void add_bias(uint8_t*, size_t) {}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_hits_of_rows);
HWY_EXPORT(add_bias);

SharedLevels::SharedLevels(const ScanCodec& codec) {
  constexpr int kMostBytes = 512 << 10;
  int lanes = 0;
  for (const LevelStage& stage : codec.stages()) lanes += stage.lanes();
  most_blocks_ = std::clamp(kMostBytes / (kBlockRows * lanes), 1, most_shared_blocks());
  for (size_t stage = 0; stage < codec.stages().size(); ++stage)
    levels[stage].resize(static_cast<size_t>(most_blocks_ * kBlockRows) *
                         static_cast<size_t>(codec.stages()[stage].lanes()));
}

void set_level_query(const ScanCodec& codec, const ScanQuery& query, LevelQuery* levels) {
  levels->levels = query.levels.data();
  levels->score = query.score;
  for (size_t i = 0; i < codec.stages().size(); ++i) {
    const LevelStage& stage = codec.stages()[i];
    levels->level_sum[i] = 0;
    for (int segment = stage.first_segment; segment < stage.first_segment + stage.segments;
         ++segment)
      levels->level_sum[i] += query.words[static_cast<size_t>(segment)].sum;
  }
}

void decode_shared_levels(const ScanCodec& codec, const ScanTile& tile, int first_block,
                          int end_block, SharedLevels* rows) {
  rows->first_row = static_cast<uint32_t>(first_block * kBlockRows);
  rows->max_scale = 0;
  rows->max_constant = 0;
  fetch_rests(codec.layout(), tile, first_block);
  for (int block = first_block; block < end_block; ++block) {
    if (block + 1 < end_block) fetch_rests(codec.layout(), tile, block + 1);
    const int first = (block - first_block) * kBlockRows;
    alignas(64) float bias[kBlockRows];
    load_block_terms(codec, tile.front[block], tile.room[block], rows->scale + first,
                     rows->constant + first, bias);
    std::copy_n(codec.metric() == Metric::l2 ? bias : rows->scale + first, kBlockRows,
                rows->norm + first);
    for (uint64_t left = tile.allowed[block]; left != 0;) {
      // Runs of rows, so that a filter's are decoded alone and all others in one go.
      const int row = std::countr_zero(left);
      const int count = std::countr_one(left >> row);
      RowPlace at[kBlockRows];
      for (int i = 0; i < count; ++i) {
        at[i] = place_of(tile, static_cast<uint32_t>(block * kBlockRows + row + i));
        rows->max_scale = std::max(rows->max_scale, rows->scale[first + row + i]);
        rows->max_constant =
            std::max(rows->max_constant, std::fabs(rows->constant[first + row + i]));
      }
      for (size_t stage = 0; stage < codec.stages().size(); ++stage) {
        const LevelStage& of = codec.stages()[stage];
        const size_t lanes = static_cast<size_t>(of.lanes());
        uint8_t* levels = rows->levels[stage].data() + static_cast<size_t>(first + row) * lanes;
        decode_level_rows(codec, of, at, count, reinterpret_cast<int8_t*>(levels));
        HWY_DYNAMIC_DISPATCH(add_bias)(levels, static_cast<size_t>(count) * lanes);
      }
      left = count == kBlockRows ? 0 : left & ~(((uint64_t{1} << count) - 1) << row);
    }
  }
}

int find_shared_hits(const ScanCodec& codec, const SharedLevels& rows, const LevelQuery& query,
                     float threshold, PickedRows* picked, SharedHits* hits) {
  return HWY_DYNAMIC_DISPATCH(find_hits_of_rows)(codec, rows, query, threshold, picked, hits);
}

}  // namespace polarquant
#endif
