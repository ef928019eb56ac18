// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense_hits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense_hits.cc"
#include "src/scan/kernels/targets.h"  // before highway
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
  using V = hn::Vec<D>;

  HWY_ATTR Slots(const PanelConstants& panel, const float* thresholds, int slot)
      : base(hn::Load(D(), panel.base + slot)),
        weight(hn::Load(D(), panel.weight + slot)),
        dot_scale(hn::Load(D(), panel.dot_scale[0] + slot)),
        second_scale(hn::Load(D(), panel.dot_scale[1] + slot)),
        threshold(hn::Load(D(), thresholds + slot)) {}

  HWY_ATTR hn::Mask<D> reached(const int32_t* dots, const int32_t* second_dots, float scale,
                               float constant) const {
    const D df;
    const hn::RebindToSigned<D> di;
    V sum = hn::Mul(dot_scale, hn::ConvertTo(df, hn::Load(di, dots)));
    if constexpr (kTwoStages)
      sum = hn::Add(sum, hn::Mul(second_scale, hn::ConvertTo(df, hn::Load(di, second_dots))));
    const V offset = hn::Add(base, hn::Mul(weight, hn::Set(df, constant)));
    return hn::Ge(hn::Add(offset, hn::Mul(hn::Set(df, scale), sum)), threshold);
  }

  V base, weight, dot_scale, second_scale, threshold;
};

template <bool kTwoStages>
HWY_ATTR int hits_of_panel(const int32_t* dots, const int32_t* second_dots, int row_dots,
                           const PanelConstants& panel, const float* thresholds,
                           const ChunkTerms& terms, int32_t first_query, DenseHit* hits,
                           int count) {
  const typename Slots<kTwoStages>::D df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int slot = 0; slot < kPanelQueries; slot += lanes) {
    const Slots<kTwoStages> slots(panel, thresholds, slot);
    const auto reached = [&](int row) HWY_ATTR {
      const int at = row * row_dots + slot;
      return slots.reached(dots + at, kTwoStages ? second_dots + at : nullptr, terms.scale[row],
                           terms.constant[row]);
    };
    for (int first = 0; first < kChunkRows; first += kRowsTogether) {
      const auto any = hn::Or(hn::Or(reached(first), reached(first + 1)),
                              hn::Or(reached(first + 2), reached(first + 3)));
      if (HWY_LIKELY(hn::AllFalse(df, any))) continue;
      for (int row = first; row < first + kRowsTogether; ++row) {
        uint8_t bits[8] = {};
        hn::StoreMaskBits(df, reached(row), bits);
        const int at = row * row_dots + slot;
        for (int lane = 0; lane < lanes; ++lane) {
          if ((bits[lane / 8] >> (lane % 8) & 1) == 0) continue;
          hits[count++] = {row,
                           first_query + slot + lane,
                           {dots[at + lane], kTwoStages ? second_dots[at + lane] : 0}};
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
  const int row_dots = panels * kPanelQueries;
  for (int panel = 0; panel < panels; ++panel) {
    const int first = panel * kPanelQueries;
    if (second_dots == nullptr) {
      count = hits_of_panel<false>(dots + first, nullptr, row_dots, constants[panel],
                                   thresholds + first, terms, first, hits, count);
    } else {
      count = hits_of_panel<true>(dots + first, second_dots + first, row_dots, constants[panel],
                                  thresholds + first, terms, first, hits, count);
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

int find_dense_hits(const int32_t* dots, const int32_t* second_dots, int panels,
                    const PanelConstants* constants, const float* thresholds,
                    const ChunkTerms& terms, DenseHit* hits) {
  return HWY_DYNAMIC_DISPATCH(find_hits)(dots, second_dots, panels, constants, thresholds, terms,
                                         hits);
}

}  // namespace polarquant
#endif
