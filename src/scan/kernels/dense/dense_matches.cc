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

/// Rows that share one test whether any of them reached.
constexpr int kRowsTogether = 4;

/// A panel's constants and thresholds from one slot on, and what a row makes of them: the
/// operations of goodness() in their order, so that a hit's score is the one computed later.
template <bool kTwoStages>
struct Slots {
  using D = hn::CappedTag<float, kPanelQueries>;
  using DI = hn::RebindToSigned<D>;
  using V = hn::Vec<D>;

  HWY_ATTR Slots(const PanelConstants& panel, const float* thresholds, const ChunkTerms& terms,
                 int slot)
      : base(hn::Load(D(), panel.base + slot)),
        weight(hn::Load(D(), panel.weight + slot)),
        dot_scale(hn::Load(D(), panel.dot_scale[0] + slot)),
        second_scale(hn::Load(D(), panel.dot_scale[1] + slot)),
        margin(hn::Mul(hn::Load(D(), panel.margin + slot), hn::Set(D(), terms.margin_unit))),
        energy_slope(hn::Load(D(), panel.energy_slope + slot)),
        threshold(hn::Load(D(), thresholds + slot)) {}

  HWY_ATTR hn::Mask<D> reached(const int32_t* dots, const int32_t* second_dots,
                               const ChunkTerms& terms, int row) const {
    const D df;
    V sum = hn::Mul(dot_scale, hn::ConvertTo(df, hn::Load(DI(), dots)));
    if constexpr (kTwoStages) {
      sum = hn::Add(sum, hn::Mul(second_scale, hn::ConvertTo(df, hn::Load(DI(), second_dots))));
    } else {
      sum = hn::Sub(hn::Add(sum, margin), hn::Mul(energy_slope, hn::Set(df, terms.energy[row])));
    }
    const V offset = hn::Add(base, hn::Mul(weight, hn::Set(df, terms.constant[row])));
    return hn::Ge(hn::Add(offset, hn::Mul(hn::Set(df, terms.scale[row]), sum)), threshold);
  }

  /// A dot up to which no row of the chunk reaches the threshold: from
  ///   base + weight·constant + scale·(dot_scale·dot + margin − energy_slope·energy) ≥ threshold,
  /// less what roundings on either side can make of it. Of one stage.
  HWY_ATTR hn::Vec<DI> unreached_dot(const ChunkTerms& terms) const {
    constexpr float kRounding = 2e-6F;  // of what is added: over ten times float's
    constexpr float kMaxDot = 2147483520.0F;
    const D df;
    const V low = hn::Mul(weight, hn::Set(df, terms.min_constant));
    const V high = hn::Mul(weight, hn::Set(df, terms.max_constant));
    const V best = hn::Max(low, high);
    const V sizes =
        hn::Add(hn::Add(hn::Abs(threshold), hn::Abs(base)), hn::Add(hn::Abs(low), hn::Abs(high)));
    const V missing =
        hn::NegMulAdd(hn::Set(df, kRounding), sizes, hn::Sub(hn::Sub(threshold, base), best));
    const V energy = hn::Mul(energy_slope, hn::Set(df, terms.min_energy));
    const V most =
        hn::MulAdd(hn::Set(df, kRounding), hn::Add(margin, energy), hn::Sub(margin, energy));
    const V least = hn::Mul(missing, hn::Set(df, (1 - kRounding) * terms.inverse_max_scale));
    const V dot = hn::Div(hn::Sub(least, most), dot_scale);
    // A threshold of −infinity, all rows at the centre, and a comparison with NaN leave every row
    // to the test itself. Where dot_scale is 0 the dot is infinite: none reaches.
    const auto known = hn::And(hn::Gt(least, hn::Zero(df)), hn::Gt(dot, hn::Set(df, -kMaxDot)));
    const V last = hn::IfThenElse(
        known, hn::Sub(hn::Min(dot, hn::Set(df, kMaxDot)), hn::Set(df, 2)), hn::Set(df, -kMaxDot));
    return hn::ConvertTo(DI(), last);
  }

  V base, weight, dot_scale, second_scale, margin, energy_slope, threshold;
};

template <bool kTwoStages>
HWY_ATTR int hits_of_panel(const int32_t* dots, const int32_t* second_dots,
                           const PanelConstants& panel, const float* thresholds,
                           const ChunkTerms& terms, int32_t first_query, DenseHit* hits,
                           int count) {
  const typename Slots<kTwoStages>::D df;
  const typename Slots<kTwoStages>::DI di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int slot = 0; slot < kPanelQueries; slot += lanes) {
    const Slots<kTwoStages> slots(panel, thresholds, terms, slot);
    const auto reached = [&](int row) HWY_ATTR {
      const int at = row * kPanelQueries + slot;
      return slots.reached(dots + at, kTwoStages ? second_dots + at : nullptr, terms, row);
    };
    // Bit i: whether any of rows 4i … 4i+3 may reach. By themselves: which do is not predictable.
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
                               HWY_ATTR { return hn::Load(di, dots + row * kPanelQueries + slot); };
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
          const int at = row * kPanelQueries + slot + lane;
          hits[count++] = {
              row, first_query + slot + lane, {dots[at], kTwoStages ? second_dots[at] : 0}};
        }
      }
    }
  }
  return count;
}

HWY_ATTR int find_hits(const int32_t* dots, const int32_t* second_dots, int panels,
                       const PanelConstants* constants, const float* thresholds,
                       const ChunkTerms& terms, DenseHit* hits) {
  int count = 0;
  for (int panel = 0; panel < panels; ++panel) {
    const int first = panel * kPanelQueries;
    const int at = first * kChunkRows;
    if (second_dots == nullptr) {
      count = hits_of_panel<false>(dots + at, nullptr, constants[panel], thresholds + first, terms,
                                   first, hits, count);
    } else {
      count = hits_of_panel<true>(dots + at, second_dots + at, constants[panel], thresholds + first,
                                  terms, first, hits, count);
    }
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_hits);

ChunkTerms make_chunk_terms(const float* scale, const float* constant, const float* energy) {
  ChunkTerms terms = {scale, constant, energy};
  bool any = false;
  for (int row = 0; row < kChunkRows; ++row) {
    if (std::isnan(constant[row])) continue;
    terms.max_scale = std::max(terms.max_scale, scale[row]);
    terms.min_constant = any ? std::min(terms.min_constant, constant[row]) : constant[row];
    terms.max_constant = any ? std::max(terms.max_constant, constant[row]) : constant[row];
    terms.min_energy = any ? std::min(terms.min_energy, energy[row]) : energy[row];
    any = true;
  }
  if (terms.max_scale > 0) terms.inverse_max_scale = 1 / terms.max_scale;
  return terms;
}

int find_dense_hits(const int32_t* dots, const int32_t* second_dots, int panels,
                    const PanelConstants* constants, const float* thresholds,
                    const ChunkTerms& terms, DenseHit* hits) {
  return HWY_DYNAMIC_DISPATCH(find_hits)(dots, second_dots, panels, constants, thresholds, terms,
                                         hits);
}

}  // namespace polarquant
#endif
