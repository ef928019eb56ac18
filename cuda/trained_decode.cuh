// SPDX-License-Identifier: MIT
// group8_decode.cuh for trained codes, whose segments differ: where a group8's codes lie, and the
// sums of a row that scores and bounds need.
#pragma once

#include "cuda/row_key.cuh"

namespace polarquant::cuda {

/// Group8 c of a segment with bits.
__device__ inline Group8Codes load_trained_group8(const CodeView& code, const SegmentView& view,
                                                  const RowBytes& row, int segment, int c) {
  Group8Codes group8;
  const int step = view.stage.step_bits;
  const uint8_t* codes = row.payload + view.stage.codes_offset;
  group8.y = 0;
  if (view.stage.kind == CodeKind::magnitudes) {
    // Only whole segments have them.
    group8.x = load_bits(codes + c * step);
    group8.y = load_bits(codes + (kSegmentDims / 2 / 8 + c) * step);
  } else {
    const int number = view.group8 + c;
    const int ring_bits = view.pairs * step;
    if (ring_bits % 8 != 0) {
      // Short rings of few coordinates. Nothing here is a function that is called: products of
      // matrices do not run beside calls.
      group8.x = number == 0 && step < 8 ? first_windows(codes, step, ring_bits)
                                         : load_bits(codes + number * step - 1) >> step;
    } else if (step == 8) {
      group8.x = load_bits(codes + number * step);
    } else {
      // Without a branch: lanes side by side have other segments.
      const uint64_t bits = load_bits(codes + (number == 0 ? 0 : number * step - 1));
      const uint64_t last = codes[ring_bits / 8 - 1] >> step;
      group8.x = number == 0 ? bits << (8 - step) | last : bits >> step;
    }
  }
  group8.signs = 0;
  if (view.stage.signs == SignPlace::none) return group8;
  const uint8_t* word = segment < code.sketch_words
                            ? row.sketch + 64 * segment
                            : row.payload + 8 * (segment - code.sketch_words);
  group8.signs = word_signs(word, c);
  return group8;
}

/// The signed int8 values of a group8.
__device__ inline void decode_trained_group8(const SegmentView& view, const Group8Codes& codes,
                                             const uint32_t* tables, uint32_t words[4]) {
  const uint32_t* table = tables + view.table * 256;
  decode_group8(
      view.stage, codes, [&](uint32_t index) { return table[index]; }, words);
}

/// Σ value² of a group8, added to `sum`.
__device__ inline int32_t add_squares(const uint32_t words[4], int32_t sum) {
#pragma unroll
  for (int u = 0; u < 4; ++u)
    sum = __dp4a(static_cast<int>(words[u]), static_cast<int>(words[u]), sum);
  return sum;
}

}  // namespace polarquant::cuda
