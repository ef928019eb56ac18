// SPDX-License-Identifier: MIT
// Where the parts of a tile's row lie that kernels read.
#if defined(POLARQUANT_ROW_PARTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROW_PARTS_INL_H_
#undef POLARQUANT_ROW_PARTS_INL_H_
#else
#define POLARQUANT_ROW_PARTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_codec.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Where a row's parts lie, found once.
struct RowParts {
  const uint64_t* words;  // its first sketch word; the next is kGroupRows words later
  const uint8_t* factors;
  const uint8_t* payload;

  RowParts() = default;
  HWY_ATTR HWY_INLINE RowParts(const BlockLayout& layout, const RowPlace& at)
      : words(layout.sketch_word(at, 0)),
        factors(layout.row_factors(at)),
        payload(layout.row_payload(at)) {}
};

/// How much of a row's payload, from its start, is read for a stage's scores: RowDots reads nothing
/// beyond, others up to 32 bytes more.
HWY_INLINE size_t scored_bytes(const BlockLayout& layout, const Int8Stage& stage) {
#if POLAR_SIMD_VBMI
  return std::min(stage.payload_bytes, layout.payload_bytes());
#else
  (void)layout;
  return stage.payload_bytes;
#endif
}

/// Where rows have one of their sign words.
class WordOfRows {
 public:
  HWY_ATTR HWY_INLINE WordOfRows(const BlockLayout& layout, int word)
      : in_sketch_(word < layout.sketch_words()),
        offset_(sizeof(uint64_t) * static_cast<size_t>(in_sketch_ ? word * kGroupRows
                                                                  : word - layout.sketch_words())) {
  }

  HWY_ATTR HWY_INLINE uint64_t word(const RowParts& row) const {
    uint64_t word;
    const auto* words = in_sketch_ ? reinterpret_cast<const uint8_t*>(row.words) : row.payload;
    std::memcpy(&word, words + offset_, sizeof word);
    return word;
  }

 private:
  bool in_sketch_;
  size_t offset_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
