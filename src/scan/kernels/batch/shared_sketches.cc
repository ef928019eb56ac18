// SPDX-License-Identifier: MIT
#include "src/scan/kernels/batch/shared_sketches.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/batch/shared_sketches.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/batch/shared_lut4-inl.h"
#include "src/scan/kernels/batch/shared_lut6-inl.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_SCALAR
void lay_out(const ScanCodec&, const ScanTile&, int, int, SharedSketches*) {}
void selection(const ScanCodec&, const SharedSketches&, const SketchSelection*, int) {}
void set_parts(uint64_t, uint64_t, uint64_t, uint8_t*) {}
constexpr size_t kPartsOfWord = 0;
#endif

SharedKernels form() {
#if POLAR_SIMD_SCALAR
  return SharedKernels::none;
#elif POLAR_SIMD_VBMI
  return SharedKernels::permuting;
#else
  return hn::MaxLanes(hn::ScalableTag<uint8_t>()) > 16 ? SharedKernels::wide
                                                       : SharedKernels::narrow;
#endif
}

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

HWY_EXPORT(form);
HWY_EXPORT(lay_out);
HWY_EXPORT(set_sketch_parts);
HWY_EXPORT(selection);

SharedKernels shared_kernels() { return HWY_DYNAMIC_DISPATCH(form)(); }

void lay_out_sketches(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                      SharedSketches* sketches) {
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

void select_rows(const ScanCodec& codec, const SharedSketches& sketches,
                 std::span<const SketchSelection> selections) {
  HWY_DYNAMIC_DISPATCH(selection)
  (codec, sketches, selections.data(), static_cast<int>(selections.size()));
}

}  // namespace polarquant
#endif
