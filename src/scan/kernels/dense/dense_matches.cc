// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/dense_matches.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/dense_matches.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows that share one test of whether any of them reached.
constexpr int kRowsTogether = 4;

/// Constants and thresholds of a query tile from one slot on, and a row's similarity by them: the
/// operations of similarity() in their order, so that a match's score is the one computed later.
template <bool kTwoStages>
struct Slots {
  using D = hn::CappedTag<float, kTileQueries>;
  using DI = hn::RebindToSigned<D>;
  using V = hn::Vec<D>;

  HWY_ATTR Slots(const QueryTileConstants& query_tile, const float* thresholds,
                 const ChunkTerms& terms, int slot)
      : base(hn::Load(D(), query_tile.base + slot)),
        weight(hn::Load(D(), query_tile.weight + slot)),
        dot_scale(hn::Load(D(), query_tile.dot_scale[0] + slot)),
        second_scale(hn::Load(D(), query_tile.dot_scale[1] + slot)),
        margin(hn::Mul(hn::Load(D(), query_tile.margin + slot), hn::Set(D(), terms.margin_unit))),
        squared_norm_slope(hn::Load(D(), query_tile.squared_norm_slope + slot)),
        threshold(hn::Load(D(), thresholds + slot)) {}

  HWY_ATTR hn::Mask<D> reached(const int32_t* dots, const int32_t* second_dots,
                               const ChunkTerms& terms, int row) const {
    const D df;
    V sum = hn::Mul(dot_scale, hn::ConvertTo(df, hn::Load(DI(), dots)));
    if constexpr (kTwoStages) {
      sum = hn::Add(sum, hn::Mul(second_scale, hn::ConvertTo(df, hn::Load(DI(), second_dots))));
    } else {
      sum = hn::Sub(hn::Add(sum, margin),
                    hn::Mul(squared_norm_slope, hn::Set(df, terms.squared_norm[row])));
    }
    const V offset = hn::Add(base, hn::Mul(weight, hn::Set(df, terms.constant[row])));
    return hn::Ge(hn::Add(offset, hn::Mul(hn::Set(df, terms.scale[row]), sum)), threshold);
  }

  /// A dot up to which no row of the chunk reaches the threshold: from
  ///   base + weight·constant + scale·(dot_scale·dot + margin − squared_norm_slope·squared_norm) ≥
  ///   threshold,
  /// less what roundings on either side can add. For one stage.
  HWY_ATTR hn::Vec<DI> unreached_dot(const ChunkTerms& terms) const {
    constexpr float kRounding = 2e-6F;  // of each term: over ten times float's
    constexpr float kMaxDot = 2147483520.0F;
    const D df;
    const V low = hn::Mul(weight, hn::Set(df, terms.min_constant));
    const V high = hn::Mul(weight, hn::Set(df, terms.max_constant));
    const V best = hn::Max(low, high);
    const V sizes =
        hn::Add(hn::Add(hn::Abs(threshold), hn::Abs(base)), hn::Add(hn::Abs(low), hn::Abs(high)));
    const V missing =
        hn::NegMulAdd(hn::Set(df, kRounding), sizes, hn::Sub(hn::Sub(threshold, base), best));
    const V squared_norm = hn::Mul(squared_norm_slope, hn::Set(df, terms.min_squared_norm));
    const V most = hn::MulAdd(hn::Set(df, kRounding), hn::Add(margin, squared_norm),
                              hn::Sub(margin, squared_norm));
    const V least = hn::Mul(missing, hn::Set(df, (1 - kRounding) * terms.inverse_max_scale));
    const V dot = hn::Div(hn::Sub(least, most), dot_scale);
    // A threshold of −infinity, all rows at the centre, and a comparison with NaN leave every row
    // to the test itself. Where dot_scale is 0 the dot is infinite: none reaches.
    const auto known = hn::And(hn::Gt(least, hn::Zero(df)), hn::Gt(dot, hn::Set(df, -kMaxDot)));
    const V last = hn::IfThenElse(
        known, hn::Sub(hn::Min(dot, hn::Set(df, kMaxDot)), hn::Set(df, 2)), hn::Set(df, -kMaxDot));
    return hn::ConvertTo(DI(), last);
  }

  V base, weight, dot_scale, second_scale, margin, squared_norm_slope, threshold;
};

template <bool kTwoStages>
HWY_ATTR int matches_of_query_tile(const int32_t* dots, const int32_t* second_dots,
                                   const QueryTileConstants& query_tile, const float* thresholds,
                                   const ChunkTerms& terms, int32_t first_query,
                                   DenseMatch* matches, int count) {
  const typename Slots<kTwoStages>::D df;
  const typename Slots<kTwoStages>::DI di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int slot = 0; slot < kTileQueries; slot += lanes) {
    const Slots<kTwoStages> slots(query_tile, thresholds, terms, slot);
    const auto reached = [&](int row) HWY_ATTR {
      const int at = row * kTileQueries + slot;
      return slots.reached(dots + at, kTwoStages ? second_dots + at : nullptr, terms, row);
    };
    // Bit i: whether any of rows 4i … 4i+3 may reach, found first: it is not predictable.
    uint32_t groups = 0;
    if constexpr (kTwoStages) {
      for (int first = 0; first < kChunkRows; first += kRowsTogether) {
        const auto any = hn::Or(hn::Or(reached(first), reached(first + 1)),
                                hn::Or(reached(first + 2), reached(first + 3)));
        groups |= (hn::AllFalse(df, any) ? 0U : 1U) << first / kRowsTogether;
      }
    } else {
      const auto unreached_dot = slots.unreached_dot(terms);
      const auto dots_of = [&](int row)
                               HWY_ATTR { return hn::Load(di, dots + row * kTileQueries + slot); };
      for (int first = 0; first < kChunkRows; first += kRowsTogether) {
        const auto most = hn::Max(hn::Max(dots_of(first), dots_of(first + 1)),
                                  hn::Max(dots_of(first + 2), dots_of(first + 3)));
        const bool none = hn::AllFalse(di, hn::Gt(most, unreached_dot));
        groups |= (none ? 0U : 1U) << first / kRowsTogether;
      }
    }
    for (; groups != 0; groups &= groups - 1) {
      const int first = std::countr_zero(groups) * kRowsTogether;
      for (int row = first; row < first + kRowsTogether; ++row) {
        alignas(8) uint8_t mask_bits[8] = {};
        hn::StoreMaskBits(df, reached(row), mask_bits);
        uint64_t bits;
        std::memcpy(&bits, mask_bits, sizeof bits);
        for (; bits != 0; bits &= bits - 1) {
          const int lane = std::countr_zero(bits);
          const int at = row * kTileQueries + slot + lane;
          matches[count++] = {
              row, first_query + slot + lane, {dots[at], kTwoStages ? second_dots[at] : 0}};
        }
      }
    }
  }
  return count;
}

HWY_ATTR int find_matches(const int32_t* dots, const int32_t* second_dots, int query_tiles,
                          const QueryTileConstants* constants, const float* thresholds,
                          const ChunkTerms& terms, DenseMatch* matches) {
  int count = 0;
  for (int query_tile = 0; query_tile < query_tiles; ++query_tile) {
    const int first = query_tile * kTileQueries;
    const int at = first * kChunkRows;
    if (second_dots == nullptr) {
      count = matches_of_query_tile<false>(dots + at, nullptr, constants[query_tile],
                                           thresholds + first, terms, first, matches, count);
    } else {
      count = matches_of_query_tile<true>(dots + at, second_dots + at, constants[query_tile],
                                          thresholds + first, terms, first, matches, count);
    }
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_matches);

ChunkTerms make_chunk_terms(const float* scale, const float* constant, const float* squared_norm) {
  ChunkTerms terms = {scale, constant, squared_norm};
  bool any = false;
  for (int row = 0; row < kChunkRows; ++row) {
    if (std::isnan(constant[row])) continue;
    terms.max_scale = std::max(terms.max_scale, scale[row]);
    terms.min_constant = any ? std::min(terms.min_constant, constant[row]) : constant[row];
    terms.max_constant = any ? std::max(terms.max_constant, constant[row]) : constant[row];
    terms.min_squared_norm =
        any ? std::min(terms.min_squared_norm, squared_norm[row]) : squared_norm[row];
    any = true;
  }
  if (terms.max_scale > 0) terms.inverse_max_scale = 1 / terms.max_scale;
  return terms;
}

int find_dense_matches(const int32_t* dots, const int32_t* second_dots, int query_tiles,
                       const QueryTileConstants* constants, const float* thresholds,
                       const ChunkTerms& terms, DenseMatch* matches) {
  return HWY_DYNAMIC_DISPATCH(find_matches)(dots, second_dots, query_tiles, constants, thresholds,
                                            terms, matches);
}

}  // namespace polarquant
#endif
