// SPDX-License-Identifier: MIT
#include "src/scan/kernels/batch/shared_sketches.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/batch/shared_sketches.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/batch/shared_lut4-inl.h"
#include "src/scan/kernels/batch/shared_lut6-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

// Decoding rows is what few queries do not pay back, and a residual code's two values a coordinate
// less than any. 117,659 × 384 rows of 2 or 4 bits, against groups of eight queries: as fast from
// 70 (trained: 78) on with AVX3_DL, from 70 with AVX2, from 100 with SSE4; `Polar4+2` from 130, 110
// and 200 on.
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
#if HWY_TARGET == HWY_AVX3_DL
int64_t min_queries(const ScanCodec& codec) {
  if (codec.stages().size() == 1) return 72;
  return codec.has_split_stages() ? 80 : 144;
}
#elif HWY_TARGET != HWY_SCALAR
int64_t min_queries(const ScanCodec& codec) {
  const bool is_residual = codec.stages().size() == 2 && !codec.has_split_stages();
  if (hn::MaxLanes(hn::ScalableTag<uint8_t>()) > 16) return is_residual ? 112 : 72;
  return is_residual ? 256 : 96;
}
#else
int64_t min_queries(const ScanCodec&) { return kNever; }
void lay_out(const ScanCodec&, const ScanTile&, int, int, SharedFronts*) {}
void selection(const ScanCodec&, const SharedFronts&, const SketchSelection*, int) {}
void set_parts(uint64_t, uint64_t, uint64_t, uint8_t*) {}
constexpr size_t kPartsOfWord = 0;
#endif

bool shares_sketches() { return HWY_TARGET != HWY_SCALAR; }

HWY_ATTR void set_sketch_parts(const ScanQuery& query, SketchQuery* sketch) {
  static_assert(kMaxSketchWords * kPartsOfWord <= SketchQuery::kMostParts);
  for (size_t word = 0; word < query.sketch_words; ++word)
    set_parts(query.sign_words[word], query.ones_words[word], query.twos_words[word],
              sketch->parts + word * kPartsOfWord);
  set_parts(query.sign_words[0], query.fours_word, 0, sketch->third_parts);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(min_queries);
HWY_EXPORT(shares_sketches);
HWY_EXPORT(lay_out);
HWY_EXPORT(set_sketch_parts);
HWY_EXPORT(selection);

int64_t min_shared_queries(const ScanCodec& codec) {
  return HWY_DYNAMIC_DISPATCH(min_queries)(codec);
}
bool can_share_sketches() { return HWY_DYNAMIC_DISPATCH(shares_sketches)(); }

void lay_out_sketches(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                      SharedFronts* sketches) {
  HWY_DYNAMIC_DISPATCH(lay_out)(codec, tile, first_block, end_block, sketches);
}

void set_sketch_query(const ScanCodec& codec, const ScanQuery& query, SketchQuery* sketch) {
  *sketch = {};
  HWY_DYNAMIC_DISPATCH(set_sketch_parts)(query, sketch);
  const LinearBound line = linear_bound(codec, query, 0);
  sketch->height = line.height / line.tilt;
  sketch->base = line.base;
  sketch->inverse_tilt = 1 / line.tilt;
  sketch->ratio = line.weight / line.tilt;
}

void select_rows(const ScanCodec& codec, const SharedFronts& sketches,
                 std::span<const SketchSelection> selections) {
  HWY_DYNAMIC_DISPATCH(selection)
  (codec, sketches, selections.data(), static_cast<int>(selections.size()));
}

}  // namespace polarquant
#endif
