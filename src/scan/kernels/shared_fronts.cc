// SPDX-License-Identifier: MIT
#include "src/scan/kernels/shared_fronts.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/shared_fronts.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/shared_nibbles-inl.h"
#include "src/scan/kernels/shared_sextets-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

// Decoding rows is what few queries do not pay back. 117,659 × 384 rows of 4 bits: as fast as
// groups of eight queries from about 100 on with AVX3_DL, 130 with AVX2, 200 with SSE4; with
// 1,000 1.45, 1.35 and 1.1 times as fast.
#if HWY_TARGET == HWY_AVX3_DL
int64_t min_queries() { return 96; }
#elif HWY_TARGET != HWY_SCALAR
int64_t min_queries() { return 160; }
#else
int64_t min_queries() { return std::numeric_limits<int64_t>::max(); }
void lay_out(const ScanCodec&, const ScanTile&, int, int, SharedFronts*) {}
void pick(const ScanCodec&, const SharedFronts&, const FrontPick*, int) {}
void set_parts(uint64_t, uint64_t, uint8_t*) {}
constexpr size_t kPartsOfWord = 0;
#endif

HWY_ATTR void set_front_parts(const ScanQuery& query, FrontQuery* front) {
  static_assert(kMaxFrontWords * kPartsOfWord <= FrontQuery::kMostParts);
  for (size_t word = 0; word < query.sign_words.size(); ++word)
    set_parts(query.sign_words[word], query.heavy_words[word], front->parts + word * kPartsOfWord);
  front->has_third_bit = query.very_heavy_word != 0;
  if (front->has_third_bit)
    set_parts(query.sign_words[0], query.very_heavy_word, front->third_parts);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(min_queries);
HWY_EXPORT(lay_out);
HWY_EXPORT(set_front_parts);
HWY_EXPORT(pick);

int64_t min_shared_queries() { return HWY_DYNAMIC_DISPATCH(min_queries)(); }

void lay_out_fronts(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                    SharedFronts* fronts) {
  HWY_DYNAMIC_DISPATCH(lay_out)(codec, tile, first_block, end_block, fronts);
}

void set_front_query(const ScanCodec& codec, const ScanQuery& query, FrontQuery* front) {
  *front = {};
  HWY_DYNAMIC_DISPATCH(set_front_parts)(query, front);
  const SurvivorLine line = survivor_line(codec, query, 0);
  front->height = line.height / line.tilt;
  front->base = line.base;
  front->inverse_tilt = 1 / line.tilt;
  front->ratio = line.weight / line.tilt;
}

void pick_rows(const ScanCodec& codec, const SharedFronts& fronts,
               std::span<const FrontPick> picks) {
  HWY_DYNAMIC_DISPATCH(pick)(codec, fronts, picks.data(), static_cast<int>(picks.size()));
}

}  // namespace polarquant
#endif
