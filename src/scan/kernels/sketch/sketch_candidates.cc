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

#include "src/scan/kernels/sketch/candidates_avx2-inl.h"
#include "src/scan/kernels/sketch/candidates_avx512-inl.h"
#include "src/scan/kernels/sketch/candidates_by_tables-inl.h"
#include "src/scan/kernels/sketch/candidates_by_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
/// Blocks that queries are held against in turn: their fronts stay in a first-level cache.
constexpr int kSharedBlocks = 16;

using SurvivorsOfBlocks = void (*)(const SignBlocks&, SurvivorSearch*);

/// Blocks after which it is looked again how many rows of a block stay, and the most of them that
/// are few.
constexpr int kKernelBlocks = 64;
constexpr int kFewOfBlock = 4;

/// One for many survivors and one for few.
struct SurvivorKernels {
  SurvivorsOfBlocks many;
  SurvivorsOfBlocks few;
};
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
constexpr SurvivorKernels kSurvivorKernels = {
    &survivors_of_blocks<kWords, kThirdBit, kForm, kL2>,
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
    &few_survivors_of_blocks<kWords, kThirdBit, kForm, kL2>
#else
    &survivors_of_blocks<kWords, kThirdBit, kForm, kL2>
#endif
};

/// The kernels for 1 to kMaxFrontWords words.
template <bool kThirdBit, FactorForm kForm, bool kL2, int... kFewer>
SurvivorKernels kernels_for_words(int words, std::integer_sequence<int, kFewer...> /*fewer*/) {
  static constexpr SurvivorKernels kKernels[] = {
      kSurvivorKernels<kFewer + 1, kThirdBit, kForm, kL2>...};
  return kKernels[words - 1];
}
template <bool kThirdBit>
SurvivorKernels kernels_for_factors(int words, FactorForm form, bool l2) {
  constexpr auto kFewer = std::make_integer_sequence<int, kMaxFrontWords>();
  const auto of_form = [&]<FactorForm kForm>() {
    return l2 ? kernels_for_words<kThirdBit, kForm, true>(words, kFewer)
              : kernels_for_words<kThirdBit, kForm, false>(words, kFewer);
  };
  switch (form) {
    case FactorForm::float16:
      return of_form.template operator()<FactorForm::float16>();
    case FactorForm::wide16:
      return of_form.template operator()<FactorForm::wide16>();
    default:
      return of_form.template operator()<FactorForm::float32>();
  }
}
SurvivorKernels survivor_kernels(int words, bool third_bit, FactorForm form, bool l2) {
  return third_bit ? kernels_for_factors<true>(words, form, l2)
                   : kernels_for_factors<false>(words, form, l2);
}

/// Whether fronts are fetched a block ahead where one query streams through memory. On Zen 4
/// (family 19h) that is in the way of what the core fetches by itself: one query over 4.2 MB of
/// fronts takes 1.02 times as long with it, over 1.5 GB 1.3 times. On a Xeon of the Sapphire Rapids
/// kind it takes 1.25 times as long without it over 1.5 GB, and on Zen 5 1.1 times over 4.2 MB.
bool fetches_fronts() {
#if HWY_ARCH_X86
  return __builtin_cpu_is("amdfam19h") == 0;
#else
  return true;
#endif
}

HWY_ATTR void find_survivors(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SurvivorSearch* searches, int count) {
  const BlockLayout& layout = codec.layout();
  const FactorForm form = codec.factor_format().form;
  const bool l2 = codec.metric() == Metric::l2;
#if HWY_TARGET != HWY_AVX3_DL && HWY_TARGET != HWY_SCALAR
  if (count >= kMinTableQueries) {
    find_by_tables(codec, tile, first_block, end_block, searches, count);
    return;
  }
#endif
  const SurvivorKernels kernels =
      survivor_kernels(layout.front_words(), codec.has_third_bit(), form, l2);
  const int together = count == 1 ? kKernelBlocks : kSharedBlocks;
  for (int first = first_block; first < end_block; first += together) {
    const SignBlocks blocks = {layout, tile, first, std::min(end_block, first + together),
                               count == 1 && fetches_fronts()};
    for (int i = 0; i < count; ++i) {
      SurvivorSearch& search = searches[i];
      const int before = search.found.count;
      (search.finds_few ? kernels.few : kernels.many)(blocks, &search);
      search.finds_few = search.found.count - before <= kFewOfBlock * (blocks.end - first);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_survivors);

SurvivorLine survivor_line(const ScanCodec& codec, const ScanQuery& query, float threshold) {
  // What roundings can take from the bound.
  constexpr float kMargin = 2e-6F;
  const auto most = query.front.slope * static_cast<float>(query.front_weight);
  // Sums keep the order of those in dot_bound, so that most roundings are the same.
  float height = most + query.front.margin;
  height += kMargin * (height + most);

  const FactorFormat& format = codec.factor_format();
  const bool l2 = codec.metric() == Metric::l2;
  const float norm_unit = l2 ? format.bias_unit : format.scale_unit;
  SurvivorLine line;
  line.base = query.score.base;
  line.weight =
      query.score.weight * (l2 ? -(format.bias_unit * format.bias_unit) : format.bias_unit);
  line.tilt = 2 * query.front.slope * norm_unit;
  line.height = height * norm_unit;
  line.threshold = std::isfinite(threshold) ? threshold : std::numeric_limits<float>::lowest();
  return line;
}

void find_sign_survivors(const ScanCodec& codec, const ScanTile& tile, int first_block,
                         int end_block, SurvivorSearch* searches, int count) {
  for (int i = 0; i < count; ++i) {
    searches[i].line = survivor_line(codec, *searches[i].query, searches[i].threshold);
  }
  HWY_DYNAMIC_DISPATCH(find_survivors)(codec, tile, first_block, end_block, searches, count);
}

}  // namespace polarquant
#endif
