// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/bound_matches.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/bound_matches.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"
#include "src/simd/dot_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VNNI

/// For the queries of a tile: the least dots that reach.
class BoundThresholds {
 public:
  HWY_ATTR BoundThresholds(const QueryTileConstants& query_tile, const float* thresholds,
                           const BoundRows& rows) {
    constexpr float kRounding = 2e-6F;  // of each term: over ten times float's
    const __m512 threshold = _mm512_load_ps(thresholds);
    const __m512 base = _mm512_load_ps(query_tile.base);
    const __m512 unit = _mm512_div_ps(_mm512_set1_ps(1), _mm512_load_ps(query_tile.dot_scale[0]));
    const __m512 margin = _mm512_mul_ps(unit, _mm512_load_ps(query_tile.margin));
    inverse_ = _mm512_mul_ps(unit, _mm512_sub_ps(threshold, base));
    ratio_ = _mm512_mul_ps(unit, _mm512_load_ps(query_tile.weight));
    squared_norm_ = _mm512_mul_ps(unit, _mm512_load_ps(query_tile.squared_norm_slope));
    const __m512 most =
        _mm512_mul_ps(unit, _mm512_add_ps(_mm512_abs_ps(threshold), _mm512_abs_ps(base)));
    const __m512 sizes = _mm512_fmadd_ps(
        most, _mm512_set1_ps(rows.max_inverse),
        _mm512_fmadd_ps(_mm512_abs_ps(ratio_), _mm512_set1_ps(rows.max_ratio),
                        _mm512_fmadd_ps(squared_norm_, _mm512_set1_ps(rows.max_squared_norm),
                                        _mm512_abs_ps(margin))));
    at_ = _mm512_sub_ps(_mm512_setzero_ps(),
                        _mm512_fmadd_ps(_mm512_set1_ps(kRounding), sizes, margin));
  }

  /// NaN reaches.
  HWY_ATTR HWY_INLINE __mmask16 reached(const BoundRows& rows, int row, const int32_t* dots) const {
    const __m512 without_ratio = _mm512_fmadd_ps(inverse_, _mm512_set1_ps(rows.inverse[row]), at_);
    const __m512 without_squared_norm =
        _mm512_fnmadd_ps(ratio_, _mm512_set1_ps(rows.ratio[row]), without_ratio);
    const __m512 dot_threshold = _mm512_fmadd_ps(
        squared_norm_, _mm512_set1_ps(rows.squared_norm[row]), without_squared_norm);
    return _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(_mm512_load_si512(dots)), dot_threshold,
                              _CMP_NLT_UQ);
  }

 private:
  __m512 at_, inverse_, ratio_, squared_norm_;
};

// No branches: so many matches would make them unpredictable. 16 queries' matches of a row are
// compressed to the beginning of a register, and the next row's overwrite the others.
HWY_ATTR int bound_matches(const int32_t* dots, int query_tiles,
                           const QueryTileConstants* constants, const float* thresholds,
                           const BoundRows& rows, DenseMatch* matches) {
  alignas(64) uint32_t found[kChunkRows * kTileQueries + kTileQueries];  // 16·row + slot
  DenseMatch* match = matches;
  for (int query_tile = 0; query_tile < query_tiles; ++query_tile, thresholds += kTileQueries) {
    const int first = query_tile * kTileQueries;
    const BoundThresholds dot_thresholds(constants[query_tile], thresholds, rows);
    const int32_t* tile_dots = dots + static_cast<ptrdiff_t>(first) * kChunkRows;
    __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    int count = 0;
    for (int row = 0; row < kChunkRows; ++row) {
      const __mmask16 reached = dot_thresholds.reached(rows, row, tile_dots + row * kTileQueries);
      _mm512_storeu_si512(found + count, _mm512_maskz_compress_epi32(reached, places));
      count += std::popcount(static_cast<unsigned>(reached));
      places = _mm512_add_epi32(places, _mm512_set1_epi32(kTileQueries));
    }
    for (int i = 0; i < count; ++i) {
      const uint32_t row = found[i] / kTileQueries;
      const uint32_t slot = found[i] % kTileQueries;
      *match = {
          static_cast<int32_t>(row), first + static_cast<int32_t>(slot), {tile_dots[found[i]], 0}};
      // Rows that take no part and slots without a query have no matches.
      const bool has_query = thresholds[slot] < std::numeric_limits<float>::infinity();
      match += has_query && (rows.allowed >> row & 1) != 0 ? 1 : 0;
    }
  }
  return static_cast<int>(match - matches);
}

/// For signed bytes: the row's magnitudes are the unsigned operand, the query gets its signs.
HWY_ATTR HWY_INLINE __m512i add_dots(__m512i sums, const int8_t* row, const int8_t* query,
                                     int padded_dim) {
  for (int position = 0; position < padded_dim; position += kSegmentDims) {
    const __m512i row_values = _mm512_load_si512(row + position);
    const __m512i query_values = _mm512_load_si512(query + position);
    const __m512i signed_query = _mm512_mask_sub_epi8(query_values, _mm512_movepi8_mask(row_values),
                                                      _mm512_setzero_si512(), query_values);
    sums = dot_bytes(sums, _mm512_abs_epi8(row_values), signed_query);
  }
  return sums;
}
HWY_ATTR HWY_INLINE __m512i add_operand_dots(__m512i sums, const int8_t* row, const int8_t* query,
                                             int padded_dim) {
  for (int position = 0; position < padded_dim; position += kSegmentDims)
    sums = dot_bytes(sums, _mm512_load_si512(row + position), _mm512_load_si512(query + position));
  return sums;
}

// Four matches at a time. The float operations are those of similarity() in their order.
template <bool kFirstIsKnown, bool kOperand>
HWY_ATTR int keep_matches_of(const MatchRows& rows, const MatchQuery* queries,
                             const float* thresholds, DenseMatch* matches, int count) {
  for (int i = count; i % 4 != 0; ++i) matches[i] = matches[count - 1];
  int kept = 0;
  for (int i = 0; i < count; i += 4) {
    const DenseMatch four[4] = {matches[i], matches[i + 1], matches[i + 2], matches[i + 3]};
    __m512i first_sums[4] = {};
    __m512i second_sums[4] = {};
    __m128 score[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const MatchQuery& query = queries[four[j].query];
      if constexpr (!kFirstIsKnown)
        first_sums[j] = add_dots(first_sums[j], rows.values[0] + four[j].row * rows.stride[0],
                                 query.values[0], rows.dims[0]);
      const int8_t* second = rows.values[1] + four[j].row * rows.stride[1];
      if constexpr (kOperand) {
        second_sums[j] = add_operand_dots(second_sums[j], second, query.values[1], rows.dims[1]);
      } else {
        second_sums[j] = add_dots(second_sums[j], second, query.values[1], rows.dims[1]);
      }
      score[j] = _mm_loadu_ps(&query.score.base);
    }
    const auto gather = [&](const auto& value) HWY_ATTR {
      return _mm_setr_ps(value(four[0]), value(four[1]), value(four[2]), value(four[3]));
    };
    const __m128i first =
        kFirstIsKnown
            ? _mm_setr_epi32(four[0].dot[0], four[1].dot[0], four[2].dot[0], four[3].dot[0])
            : sum_each(first_sums[0], first_sums[1], first_sums[2], first_sums[3]);
    __m128i second = sum_each(second_sums[0], second_sums[1], second_sums[2], second_sums[3]);
    if constexpr (kOperand) {
      const auto sum_of = [&](const DenseMatch& match) { return queries[match.query].second_sum; };
      const __m128i sums =
          _mm_setr_epi32(sum_of(four[0]), sum_of(four[1]), sum_of(four[2]), sum_of(four[3]));
      second = _mm_sub_epi32(second, _mm_slli_epi32(sums, 7));
    }
    _MM_TRANSPOSE4_PS(score[0], score[1], score[2], score[3]);  // base, weight, dot_scale
    const __m128 constant =
        gather([&](const DenseMatch& match) { return rows.constant[match.row]; });
    const __m128 scale = gather([&](const DenseMatch& match) { return rows.scale[match.row]; });
    const __m128 least = gather([&](const DenseMatch& match) { return thresholds[match.query]; });
    const __m128 sum = _mm_add_ps(_mm_mul_ps(score[2], _mm_cvtepi32_ps(first)),
                                  _mm_mul_ps(score[3], _mm_cvtepi32_ps(second)));
    const __m128 offset = _mm_add_ps(score[0], _mm_mul_ps(score[1], constant));
    const unsigned below = static_cast<unsigned>(
        _mm_movemask_ps(_mm_cmplt_ps(_mm_add_ps(offset, _mm_mul_ps(scale, sum)), least)));
    alignas(16) int32_t firsts[4];
    alignas(16) int32_t seconds[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(firsts), first);
    _mm_store_si128(reinterpret_cast<__m128i*>(seconds), second);
    for (int j = 0; j < std::min(4, count - i); ++j) {
      matches[kept] = {four[j].row, four[j].query, {firsts[j], seconds[j]}};
      kept += static_cast<int>(~below >> j & 1);
    }
  }
  return kept;
}

HWY_ATTR int keep_matches(const MatchRows& rows, const MatchQuery* queries, const float* thresholds,
                          bool first_is_known, DenseMatch* matches, int count) {
  if (first_is_known) return keep_matches_of<true, true>(rows, queries, thresholds, matches, count);
  const auto& keep =
      rows.second_is_operand ? keep_matches_of<false, true> : keep_matches_of<false, false>;
  return keep(rows, queries, thresholds, matches, count);
}

#else

HWY_ATTR int keep_matches(const MatchRows& rows, const MatchQuery* queries, const float* thresholds,
                          bool first_is_known, DenseMatch* matches, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    DenseMatch match = matches[i];
    const MatchQuery& query = queries[match.query];
    for (int stage = first_is_known ? 1 : 0; stage < 2; ++stage)
      match.dot[stage] =
          dot_row(query.values[stage], rows.values[stage] + match.row * rows.stride[stage],
                  rows.dims[stage]);
    const ScanTerms terms = {rows.scale[match.row], rows.constant[match.row], 0};
    matches[kept] = match;
    const float score = similarity(query.score, terms, match.dot[0], match.dot[1]);
    kept += score < thresholds[match.query] ? 0 : 1;
  }
  return kept;
}

int bound_matches(const int32_t* dots, int query_tiles, const QueryTileConstants* constants,
                  const float* thresholds, const BoundRows& rows, DenseMatch* matches) {
  return find_dense_matches(dots, nullptr, query_tiles, constants, thresholds, rows.terms, matches);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(bound_matches);
HWY_EXPORT(keep_matches);

void set_bound_rows(const float* norm, const float* constant, const float* squared_norm,
                    BoundRows* rows) {
  constexpr float kLeastNorm = 1e-30F;  // smaller ones' inverses could be infinite
  std::copy_n(norm, kChunkRows, rows->norm);
  std::copy_n(constant, kChunkRows, rows->constant);
  std::copy_n(squared_norm, kChunkRows, rows->squared_norm);
  rows->terms = make_chunk_terms(rows->norm, rows->constant, rows->squared_norm);
  rows->max_inverse = 0;
  rows->max_ratio = 0;
  rows->max_squared_norm = 0;
  rows->allowed = 0;
  for (int row = 0; row < kChunkRows; ++row) {
    rows->inverse[row] = std::numeric_limits<float>::quiet_NaN();
    rows->ratio[row] = 0;
    if (std::isnan(constant[row])) continue;
    rows->allowed |= uint64_t{1} << row;
    rows->max_squared_norm = std::max(rows->max_squared_norm, squared_norm[row]);
    if (!(norm[row] >= kLeastNorm)) continue;
    rows->inverse[row] = 1 / norm[row];
    rows->ratio[row] = constant[row] * rows->inverse[row];
    rows->max_inverse = std::max(rows->max_inverse, rows->inverse[row]);
    rows->max_ratio = std::max(rows->max_ratio, std::fabs(rows->ratio[row]));
  }
}

int find_bound_matches(const int32_t* dots, int query_tiles, const QueryTileConstants* constants,
                       const float* thresholds, const BoundRows& rows, DenseMatch* matches) {
  return HWY_DYNAMIC_DISPATCH(bound_matches)(dots, query_tiles, constants, thresholds, rows,
                                             matches);
}
int keep_bound_matches(const MatchRows& rows, const MatchQuery* queries, const float* thresholds,
                       bool first_is_known, DenseMatch* matches, int count) {
  return HWY_DYNAMIC_DISPATCH(keep_matches)(rows, queries, thresholds, first_is_known, matches,
                                            count);
}

}  // namespace polarquant
#endif
