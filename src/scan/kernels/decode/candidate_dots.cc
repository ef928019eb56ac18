// SPDX-License-Identifier: MIT
#include "src/scan/kernels/decode/candidate_dots.h"

#include <algorithm>
#include <cstring>

#include "src/scan/kernels/decode/decode_rows.h"
#include "src/scan/model/row_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/decode/candidate_dots.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/decode/row_dots-inl.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VBMI

HWY_ATTR bool dots_in_registers(const ScanTile& tile, const ScanCodec& codec,
                                const Int8Stage& stage, const ScanQuery& query, uint32_t* rows,
                                int count, int32_t* dots) {
  if (!fits_row_dots(stage)) return false;
  const BlockLayout& layout = codec.layout();
  const RowDots row_dots(layout, stage, query);
  const int last = count;
  while (count % 4 != 0) rows[count++] = rows[last - 1];
  const size_t payload_bytes = scored_bytes(layout, stage);
  constexpr int kTogether = RowDots::kMostRows;
  RowParts parts[2][kTogether];  // of the rows at hand and of those to come
  const auto fetch_rows = [&](int first, RowParts* found) HWY_ATTR {
    for (int i = first; i < std::min(count, first + kTogether); ++i) {
      const RowPlace place = place_of(tile, rows[i]);
      *found++ = RowParts(layout, place);
      fetch_code(layout, place, payload_bytes, stage.first_segment);
    }
  };
  fetch_rows(0, parts[0]);
  for (int first = 0; first < count; first += kTogether) {
    const int at_hand = first / kTogether % 2;
    fetch_rows(first + kTogether, parts[at_hand ^ 1]);
    row_dots.fours(parts[at_hand], std::min(count - first, kTogether), dots + first);
  }
  return true;
}

HWY_ATTR bool place_dots_in_registers(const ScanCodec& codec, const Int8Stage& stage,
                                      const ScanQuery& query, RowPlace* at, int count,
                                      int32_t* dots) {
  if (!fits_row_dots(stage)) return false;
  const RowDots row_dots(codec.layout(), stage, query);
  // Graphs are built a row at a time: that row is not computed as one of four.
  if (count == 1) {
    dots[0] = row_dots.one(RowParts(codec.layout(), at[0]));
    return true;
  }
  const int last = count;
  while (count % 4 != 0) at[count++] = at[last - 1];
  for (int first = 0; first < count; first += RowDots::kMostRows) {
    const int some = std::min(count - first, RowDots::kMostRows);
    RowParts rows[RowDots::kMostRows];
    for (int i = 0; i < some; ++i) rows[i] = RowParts(codec.layout(), at[first + i]);
    row_dots.fours(rows, some, dots + first);
  }
  return true;
}

#else

HWY_ATTR bool dots_in_registers(const ScanTile&, const ScanCodec&, const Int8Stage&,
                                const ScanQuery&, uint32_t*, int, int32_t*) {
  return false;
}
HWY_ATTR bool place_dots_in_registers(const ScanCodec&, const Int8Stage&, const ScanQuery&,
                                      RowPlace*, int, int32_t*) {
  return false;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(dots_in_registers);
HWY_EXPORT(place_dots_in_registers);

void candidate_dots(const ScanTile& tile, const ScanCodec& codec, const Int8Stage& stage,
                    const ScanQuery& query, uint32_t* rows, int count, int8_t* scratch,
                    int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(dots_in_registers)(tile, codec, stage, query, rows, count, dots)) return;
  const BlockLayout& layout = codec.layout();
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_code(layout, place_of(tile, rows[i]), stage.payload_bytes);
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count)
      fetch_code(layout, place_of(tile, rows[i + kFetchAhead]), stage.payload_bytes);
    decode_int8_rows(tile, codec, stage, rows + i, 1, scratch);
    dot_int8_rows(stage, query, scratch, 1, dots + i);
  }
}

void place_dots(const ScanCodec& codec, const Int8Stage& stage, const ScanQuery& query,
                RowPlace* at, int count, int8_t* scratch, int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(place_dots_in_registers)(codec, stage, query, at, count, dots)) return;
  for (int i = 0; i < count; ++i) {
    decode_int8_rows(codec, stage, at + i, 1, scratch);
    dot_int8_rows(stage, query, scratch, 1, dots + i);
  }
}

}  // namespace polarquant
#endif
