// SPDX-License-Identifier: MIT
#include "src/scan/kernels/survivor_dots.h"

#include <algorithm>
#include <cstring>

#include "src/scan/kernels/level_rows.h"
#include "src/scan/row_levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/survivor_dots.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/row_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL

HWY_ATTR bool dots_in_registers(const ScanTile& tile, const ScanCodec& codec,
                                const LevelStage& stage, const ScanQuery& query, uint32_t* rows,
                                int count, int32_t* dots) {
  if (!fits_row_dots(stage)) return false;
  const BlockLayout& layout = codec.layout();
  const RowDots row_dots(layout, stage, query);
  for (int i = count; i % 4 != 0; ++i) rows[i] = rows[count - 1];
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_code(layout, place_of(tile, rows[i]), stage.rest_bytes);
  for (int i = 0; i < count; i += 4) {
    for (int j = i + kFetchAhead; j < std::min(count, i + kFetchAhead + 4); ++j)
      fetch_code(layout, place_of(tile, rows[j]), stage.rest_bytes);
    RowParts at[4];
    for (int j = 0; j < 4; ++j) at[j] = RowParts(layout, place_of(tile, rows[i + j]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + i), row_dots.four(at));
  }
  return true;
}

HWY_ATTR bool place_dots_in_registers(const ScanCodec& codec, const LevelStage& stage,
                                      const ScanQuery& query, RowPlace* at, int count,
                                      int32_t* dots) {
  if (!fits_row_dots(stage)) return false;
  const RowDots row_dots(codec.layout(), stage, query);
  // As graphs are built, a row at a time: not as one of four.
  if (count == 1) {
    dots[0] = row_dots.one(RowParts(codec.layout(), at[0]));
    return true;
  }
  for (int i = count; i % 4 != 0; ++i) at[i] = at[count - 1];
  for (int i = 0; i < count; i += 4) {
    RowParts four[4];
    for (int j = 0; j < 4; ++j) four[j] = RowParts(codec.layout(), at[i + j]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + i), row_dots.four(four));
  }
  return true;
}

#else

HWY_ATTR bool dots_in_registers(const ScanTile&, const ScanCodec&, const LevelStage&,
                                const ScanQuery&, uint32_t*, int, int32_t*) {
  return false;
}
HWY_ATTR bool place_dots_in_registers(const ScanCodec&, const LevelStage&, const ScanQuery&,
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

void survivor_dots(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                   const ScanQuery& query, uint32_t* rows, int count, int8_t* scratch,
                   int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(dots_in_registers)(tile, codec, stage, query, rows, count, dots)) return;
  const BlockLayout& layout = codec.layout();
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_code(layout, place_of(tile, rows[i]), stage.rest_bytes);
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count)
      fetch_code(layout, place_of(tile, rows[i + kFetchAhead]), stage.rest_bytes);
    decode_level_rows(tile, codec, stage, rows + i, 1, scratch);
    dot_level_rows(stage, query, scratch, 1, dots + i);
  }
}

void place_dots(const ScanCodec& codec, const LevelStage& stage, const ScanQuery& query,
                RowPlace* at, int count, int8_t* scratch, int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(place_dots_in_registers)(codec, stage, query, at, count, dots)) return;
  for (int i = 0; i < count; ++i) {
    decode_level_rows(codec, stage, at + i, 1, scratch);
    dot_level_rows(stage, query, scratch, 1, dots + i);
  }
}

}  // namespace polarquant
#endif
