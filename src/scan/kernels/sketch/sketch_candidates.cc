// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sketch/sketch_candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sketch/sketch_candidates.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/sketch/sketch_candidates_avx2-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates_avx512-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates_by_tables-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates_by_words-inl.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
/// Blocks that queries are computed against in turn: their sketches stay in a first-level cache.
constexpr int kSharedBlocks = 16;

using CandidatesOfBlocks = void (*)(const SignBlocks&, CandidateSearch*);

/// The kernel for 1 to kMaxSketchWords words.
template <bool kThirdBit, FactorForm kForm, bool kL2, int... kFewer>
CandidatesOfBlocks kernel_for_words(int words, std::integer_sequence<int, kFewer...> /*fewer*/) {
  static constexpr CandidatesOfBlocks kKernels[] = {
      &candidates_of_blocks<kFewer + 1, kThirdBit, kForm, kL2>...};
  return kKernels[words - 1];
}
template <bool kThirdBit>
CandidatesOfBlocks kernel_for_factors(int words, FactorForm form, bool l2) {
  constexpr auto kFewer = std::make_integer_sequence<int, kMaxSketchWords>();
  const auto kernels = [&]<FactorForm kForm>() {
    return l2 ? kernel_for_words<kThirdBit, kForm, true>(words, kFewer)
              : kernel_for_words<kThirdBit, kForm, false>(words, kFewer);
  };
  switch (form) {
    case FactorForm::float16:
      return kernels.template operator()<FactorForm::float16>();
    case FactorForm::wide16:
      return kernels.template operator()<FactorForm::wide16>();
    default:
      return kernels.template operator()<FactorForm::float32>();
  }
}
CandidatesOfBlocks candidate_kernel(int words, bool third_bit, FactorForm form, bool l2) {
  return third_bit ? kernel_for_factors<true>(words, form, l2)
                   : kernel_for_factors<false>(words, form, l2);
}

/// Whether to fetch sketches a block ahead where one query streams through memory. On processors of
/// AMD's family 19h (Zen 3 and 4) that competes with the core's own prefetching; elsewhere it helps
/// (docs/dev/tuning.md, "Kernels").
bool fetches_sketches() {
#if HWY_ARCH_X86
  return __builtin_cpu_is("amdfam19h") == 0;
#else
  return true;
#endif
}

HWY_ATTR void find_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                              int end_block, CandidateSearch* searches, int count) {
  const BlockLayout& layout = codec.layout();
  const FactorForm form = codec.factor_format().form;
  const bool l2 = codec.metric() == Metric::l2;
#if !POLAR_SIMD_VPOPCNT && !POLAR_SIMD_SCALAR
  if (count >= kMinTableQueries) {
    find_by_tables(codec, tile, first_block, end_block, searches, count);
    return;
  }
#endif
  const CandidatesOfBlocks kernel =
      candidate_kernel(layout.sketch_words(), codec.has_third_bit(), form, l2);
  const int together = count == 1 ? end_block - first_block : kSharedBlocks;
  for (int first = first_block; first < end_block; first += together) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + together),
                               count == 1 && fetches_sketches()};
    for (int i = 0; i < count; ++i) kernel(blocks, &searches[i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_candidates);

LinearBound linear_bound(const ScanCodec& codec, const ScanQuery& query, float threshold) {
  // The most that roundings can take from the bound.
  constexpr float kMargin = 2e-6F;
  const auto most = query.sketch.slope * static_cast<float>(query.sketch_weight);
  // Sums in the order of dot_bound, so that most roundings are the same.
  float height = most + query.sketch.margin;
  height += kMargin * (height + most);

  const FactorFormat& format = codec.factor_format();
  const bool l2 = codec.metric() == Metric::l2;
  const float norm_unit = l2 ? format.bias_unit : format.scale_unit;
  LinearBound bound;
  bound.base = query.score.base;
  bound.weight =
      query.score.weight * (l2 ? -(format.bias_unit * format.bias_unit) : format.bias_unit);
  bound.tilt = 2 * query.sketch.slope * norm_unit;
  bound.height = height * norm_unit;
  bound.threshold = std::isfinite(threshold) ? threshold : std::numeric_limits<float>::lowest();
  return bound;
}

void find_sketch_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                            int end_block, CandidateSearch* searches, int count) {
  for (int i = 0; i < count; ++i) {
    searches[i].linear_bound = linear_bound(codec, *searches[i].query, searches[i].threshold);
  }
  HWY_DYNAMIC_DISPATCH(find_candidates)(codec, tile, first_block, end_block, searches, count);
}

}  // namespace polarquant
#endif
