// SPDX-License-Identifier: MIT
// Where a row of a tile has what kernels read of it.
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

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// A row's parts: found once for all that is read of it.
struct RowParts {
  const uint64_t* words;  // its first front word; the next is kGroupRows words behind
  const uint8_t* factors;
  const uint8_t* rest;

  RowParts() = default;
  HWY_ATTR HWY_INLINE RowParts(const BlockLayout& layout, const RowPlace& at)
      : words(layout.front_word(at, 0)),
        factors(layout.row_factors(at)),
        rest(layout.row_rest(at)) {}
};

/// Of a row's rest, from its start, how much is read for a stage's scores: by RowDots nothing
/// behind it, by others up to 32 bytes.
HWY_INLINE size_t scored_bytes(const BlockLayout& layout, const LevelStage& stage) {
#if HWY_TARGET == HWY_AVX3_DL
  return std::min(stage.rest_bytes, layout.rest_bytes());
#else
  (void)layout;
  return stage.rest_bytes;
#endif
}

/// Where rows have one of their sign words.
class WordOfRows {
 public:
  HWY_ATTR HWY_INLINE WordOfRows(const BlockLayout& layout, int word)
      : in_front_(word < layout.front_words()),
        offset_(sizeof(uint64_t) *
                static_cast<size_t>(in_front_ ? word * kGroupRows : word - layout.front_words())) {}

  HWY_ATTR HWY_INLINE uint64_t of(const RowParts& row) const {
    uint64_t word;
    const auto* words = in_front_ ? reinterpret_cast<const uint8_t*>(row.words) : row.rest;
    std::memcpy(&word, words + offset_, sizeof word);
    return word;
  }

 private:
  bool in_front_;
  size_t offset_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
