// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sketch/candidate_lists.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sketch/candidate_lists.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_AVX512

HWY_ATTR void split_list(float bound, CandidateList* list, CandidateList* taken) {
  const hn::CappedTag<float, kListPadding> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const auto lanes = static_cast<int>(hn::Lanes(df));
  const auto least = hn::Set(df, bound);
  int left = 0;
  for (int i = 0; i < list->count; i += lanes) {
    const auto candidates = hn::LoadU(du, list->candidates + i);
    const auto bounds = hn::LoadU(df, list->bounds + i);
    const auto here = hn::FirstN(df, static_cast<size_t>(list->count - i));
    const auto reached = hn::And(here, hn::Ge(bounds, least));
    const auto others = hn::AndNot(reached, here);
    // Compressed in a register: the form that compresses into memory is slow on some machines.
    hn::StoreU(hn::Compress(candidates, hn::RebindMask(du, reached)), du,
               taken->candidates + taken->count);
    hn::StoreU(hn::Compress(bounds, reached), df, taken->bounds + taken->count);
    taken->count += static_cast<int>(hn::CountTrue(df, reached));
    // Everything that this overwrites has been loaded.
    hn::StoreU(hn::Compress(candidates, hn::RebindMask(du, others)), du, list->candidates + left);
    hn::StoreU(hn::Compress(bounds, others), df, list->bounds + left);
    left += static_cast<int>(hn::CountTrue(df, others));
  }
  list->count = left;
}

#else

// Usually no row of a register reaches the bound; where one does, rows go one by one.
// (Highway 1.0.3 compresses here by a table that it copies to the stack each time.)
HWY_ATTR void split_list(float bound, CandidateList* list, CandidateList* taken) {
  const hn::CappedTag<float, kListPadding> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const auto lanes = static_cast<int>(hn::Lanes(df));
  const auto least = hn::Set(df, bound);
  const int count = list->count;
  uint32_t* candidates = list->candidates;
  float* bounds = list->bounds;
  int left = 0;
  int reached = taken->count;
  for (int i = 0; i < count; i += lanes) {
    const auto values = hn::LoadU(df, bounds + i);
    if (i + lanes <= count && hn::AllFalse(df, hn::Ge(values, least))) {
      hn::StoreU(hn::LoadU(du, candidates + i), du, candidates + left);
      hn::StoreU(values, df, bounds + left);
      left += lanes;
      continue;
    }
    for (int j = i; j < std::min(count, i + lanes); ++j) {
      const uint32_t candidate = candidates[j];
      const float value = bounds[j];
      taken->candidates[reached] = candidate;
      taken->bounds[reached] = value;
      candidates[left] = candidate;
      bounds[left] = value;
      reached += value >= bound ? 1 : 0;
      left += value >= bound ? 0 : 1;
    }
  }
  list->count = left;
  taken->count = reached;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(split_list);

void take_reaching(float bound, CandidateList* list, CandidateList* taken) {
  HWY_DYNAMIC_DISPATCH(split_list)(bound, list, taken);
}

}  // namespace polarquant
#endif
