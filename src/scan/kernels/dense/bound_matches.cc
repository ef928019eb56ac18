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

#include "src/simd/dot_bytes-inl.h"
#include "src/simd/dot_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL

/// A panel's queries: what dots of a row must reach.
class BoundCuts {
 public:
  HWY_ATTR BoundCuts(const PanelConstants& panel, const float* thresholds, const BoundRows& rows) {
    constexpr float kRounding = 2e-6F;  // of what is added: over ten times float's
    const __m512 threshold = _mm512_load_ps(thresholds);
    const __m512 base = _mm512_load_ps(panel.base);
    const __m512 unit = _mm512_div_ps(_mm512_set1_ps(1), _mm512_load_ps(panel.dot_scale[0]));
    const __m512 margin = _mm512_mul_ps(unit, _mm512_load_ps(panel.margin));
    inverse_ = _mm512_mul_ps(unit, _mm512_sub_ps(threshold, base));
    ratio_ = _mm512_mul_ps(unit, _mm512_load_ps(panel.weight));
    energy_ = _mm512_mul_ps(unit, _mm512_load_ps(panel.energy_slope));
    const __m512 most =
        _mm512_mul_ps(unit, _mm512_add_ps(_mm512_abs_ps(threshold), _mm512_abs_ps(base)));
    const __m512 sizes = _mm512_fmadd_ps(
        most, _mm512_set1_ps(rows.max_inverse),
        _mm512_fmadd_ps(
            _mm512_abs_ps(ratio_), _mm512_set1_ps(rows.max_ratio),
            _mm512_fmadd_ps(energy_, _mm512_set1_ps(rows.max_energy), _mm512_abs_ps(margin))));
    at_ = _mm512_sub_ps(_mm512_setzero_ps(),
                        _mm512_fmadd_ps(_mm512_set1_ps(kRounding), sizes, margin));
  }

  /// What is no number reaches.
  HWY_ATTR HWY_INLINE __mmask16 reached(const BoundRows& rows, int row, const int32_t* dots) const {
    const __m512 without_ratio = _mm512_fmadd_ps(inverse_, _mm512_set1_ps(rows.inverse[row]), at_);
    const __m512 without_energy =
        _mm512_fnmadd_ps(ratio_, _mm512_set1_ps(rows.ratio[row]), without_ratio);
    const __m512 cut = _mm512_fmadd_ps(energy_, _mm512_set1_ps(rows.energy[row]), without_energy);
    return _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(_mm512_load_si512(dots)), cut, _CMP_NLT_UQ);
  }

 private:
  __m512 at_, inverse_, ratio_, energy_;
};

// Without branches, which so many hits would make unpredictable: 16 queries' hits of a row are
// compressed to the front of a register, whose other places the next row's overwrite.
HWY_ATTR int bound_hits(const int32_t* dots, int panels, const PanelConstants* constants,
                        const float* thresholds, const BoundRows& rows, DenseHit* hits) {
  alignas(64) uint32_t found[kChunkRows * kPanelQueries + kPanelQueries];  // 16·row + slot
  DenseHit* hit = hits;
  for (int panel = 0; panel < panels; ++panel, thresholds += kPanelQueries) {
    const int first = panel * kPanelQueries;
    const BoundCuts cuts(constants[panel], thresholds, rows);
    const int32_t* of_panel = dots + static_cast<ptrdiff_t>(first) * kChunkRows;
    __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    int count = 0;
    for (int row = 0; row < kChunkRows; ++row) {
      const __mmask16 reached = cuts.reached(rows, row, of_panel + row * kPanelQueries);
      _mm512_storeu_si512(found + count, _mm512_maskz_compress_epi32(reached, places));
      count += std::popcount(static_cast<unsigned>(reached));
      places = _mm512_add_epi32(places, _mm512_set1_epi32(kPanelQueries));
    }
    for (int i = 0; i < count; ++i) {
      const uint32_t row = found[i] / kPanelQueries;
      const uint32_t slot = found[i] % kPanelQueries;
      *hit = {
          static_cast<int32_t>(row), first + static_cast<int32_t>(slot), {of_panel[found[i]], 0}};
      // Not of rows that take no part, nor of slots without a query.
      const bool has_query = thresholds[slot] < std::numeric_limits<float>::infinity();
      hit += has_query && (rows.allowed >> row & 1) != 0 ? 1 : 0;
    }
  }
  return static_cast<int>(hit - hits);
}

/// Of signed bytes: the row's magnitudes are the unsigned operand, and its signs go to the query's.
HWY_ATTR HWY_INLINE __m512i add_dots(__m512i sums, const int8_t* row, const int8_t* query,
                                     int lanes) {
  for (int lane = 0; lane < lanes; lane += kSegmentLanes) {
    const __m512i of_row = _mm512_load_si512(row + lane);
    const __m512i of_query = _mm512_load_si512(query + lane);
    const __m512i signed_query = _mm512_mask_sub_epi8(of_query, _mm512_movepi8_mask(of_row),
                                                      _mm512_setzero_si512(), of_query);
    sums = dot_bytes(sums, _mm512_abs_epi8(of_row), signed_query);
  }
  return sums;
}
HWY_ATTR HWY_INLINE __m512i add_operand_dots(__m512i sums, const int8_t* row, const int8_t* query,
                                             int lanes) {
  for (int lane = 0; lane < lanes; lane += kSegmentLanes)
    sums = dot_bytes(sums, _mm512_load_si512(row + lane), _mm512_load_si512(query + lane));
  return sums;
}

// Four hits at a time. The float operations are those of goodness() in their order.
template <bool kFirstIsKnown, bool kOperand>
HWY_ATTR int keep_hits_of(const HitRows& rows, const HitQuery* queries, const float* thresholds,
                          DenseHit* hits, int count) {
  for (int i = count; i % 4 != 0; ++i) hits[i] = hits[count - 1];
  int kept = 0;
  for (int i = 0; i < count; i += 4) {
    const DenseHit four[4] = {hits[i], hits[i + 1], hits[i + 2], hits[i + 3]};
    __m512i first_sums[4] = {};
    __m512i second_sums[4] = {};
    __m128 score[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const HitQuery& query = queries[four[j].query];
      if constexpr (!kFirstIsKnown)
        first_sums[j] = add_dots(first_sums[j], rows.levels[0] + four[j].row * rows.stride[0],
                                 query.levels[0], rows.lanes[0]);
      const int8_t* second = rows.levels[1] + four[j].row * rows.stride[1];
      if constexpr (kOperand) {
        second_sums[j] = add_operand_dots(second_sums[j], second, query.levels[1], rows.lanes[1]);
      } else {
        second_sums[j] = add_dots(second_sums[j], second, query.levels[1], rows.lanes[1]);
      }
      score[j] = _mm_loadu_ps(&query.score.base);
    }
    const auto of_each = [&](const auto& value) HWY_ATTR {
      return _mm_setr_ps(value(four[0]), value(four[1]), value(four[2]), value(four[3]));
    };
    const __m128i first =
        kFirstIsKnown
            ? _mm_setr_epi32(four[0].dot[0], four[1].dot[0], four[2].dot[0], four[3].dot[0])
            : sum_each(first_sums[0], first_sums[1], first_sums[2], first_sums[3]);
    __m128i second = sum_each(second_sums[0], second_sums[1], second_sums[2], second_sums[3]);
    if constexpr (kOperand) {
      const auto sum_of = [&](const DenseHit& hit) { return queries[hit.query].second_sum; };
      const __m128i sums =
          _mm_setr_epi32(sum_of(four[0]), sum_of(four[1]), sum_of(four[2]), sum_of(four[3]));
      second = _mm_sub_epi32(second, _mm_slli_epi32(sums, 7));
    }
    _MM_TRANSPOSE4_PS(score[0], score[1], score[2], score[3]);  // base, weight, dot_scale
    const __m128 constant = of_each([&](const DenseHit& hit) { return rows.constant[hit.row]; });
    const __m128 scale = of_each([&](const DenseHit& hit) { return rows.scale[hit.row]; });
    const __m128 least = of_each([&](const DenseHit& hit) { return thresholds[hit.query]; });
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
      hits[kept] = {four[j].row, four[j].query, {firsts[j], seconds[j]}};
      kept += static_cast<int>(~below >> j & 1);
    }
  }
  return kept;
}

HWY_ATTR int keep_hits(const HitRows& rows, const HitQuery* queries, const float* thresholds,
                       bool first_is_known, DenseHit* hits, int count) {
  if (first_is_known) return keep_hits_of<true, true>(rows, queries, thresholds, hits, count);
  const auto& keep =
      rows.second_is_operand ? keep_hits_of<false, true> : keep_hits_of<false, false>;
  return keep(rows, queries, thresholds, hits, count);
}

#else

HWY_ATTR int keep_hits(const HitRows& rows, const HitQuery* queries, const float* thresholds,
                       bool first_is_known, DenseHit* hits, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    DenseHit hit = hits[i];
    const HitQuery& query = queries[hit.query];
    for (int stage = first_is_known ? 1 : 0; stage < 2; ++stage)
      hit.dot[stage] =
          dot_row(query.levels[stage], rows.levels[stage] + hit.row * rows.stride[stage],
                  rows.lanes[stage]);
    const ScanTerms terms = {rows.scale[hit.row], rows.constant[hit.row], 0};
    hits[kept] = hit;
    const float score = goodness(query.score, terms, hit.dot[0], hit.dot[1]);
    kept += score < thresholds[hit.query] ? 0 : 1;
  }
  return kept;
}

int bound_hits(const int32_t* dots, int panels, const PanelConstants* constants,
               const float* thresholds, const BoundRows& rows, DenseHit* hits) {
  return find_dense_hits(dots, nullptr, panels, constants, thresholds, rows.terms, hits);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(bound_hits);
HWY_EXPORT(keep_hits);

void set_bound_rows(const float* norm, const float* constant, const float* energy,
                    BoundRows* rows) {
  constexpr float kLeastNorm = 1e-30F;  // smaller ones' inverses could be infinite
  std::copy_n(norm, kChunkRows, rows->norm);
  std::copy_n(constant, kChunkRows, rows->constant);
  std::copy_n(energy, kChunkRows, rows->energy);
  rows->terms = make_chunk_terms(rows->norm, rows->constant, rows->energy);
  rows->max_inverse = 0;
  rows->max_ratio = 0;
  rows->max_energy = 0;
  rows->allowed = 0;
  for (int row = 0; row < kChunkRows; ++row) {
    rows->inverse[row] = std::numeric_limits<float>::quiet_NaN();
    rows->ratio[row] = 0;
    if (std::isnan(constant[row])) continue;
    rows->allowed |= uint64_t{1} << row;
    rows->max_energy = std::max(rows->max_energy, energy[row]);
    if (!(norm[row] >= kLeastNorm)) continue;
    rows->inverse[row] = 1 / norm[row];
    rows->ratio[row] = constant[row] * rows->inverse[row];
    rows->max_inverse = std::max(rows->max_inverse, rows->inverse[row]);
    rows->max_ratio = std::max(rows->max_ratio, std::fabs(rows->ratio[row]));
  }
}

int find_bound_hits(const int32_t* dots, int panels, const PanelConstants* constants,
                    const float* thresholds, const BoundRows& rows, DenseHit* hits) {
  return HWY_DYNAMIC_DISPATCH(bound_hits)(dots, panels, constants, thresholds, rows, hits);
}
int keep_bound_hits(const HitRows& rows, const HitQuery* queries, const float* thresholds,
                    bool first_is_known, DenseHit* hits, int count) {
  return HWY_DYNAMIC_DISPATCH(keep_hits)(rows, queries, thresholds, first_is_known, hits, count);
}

}  // namespace polarquant
#endif
