// SPDX-License-Identifier: MIT
// Dot products of a chunk and query tiles with NEON.
#if defined(POLARQUANT_QUERY_TILE_DOTS_NEON_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_QUERY_TILE_DOTS_NEON_INL_H_
#undef POLARQUANT_QUERY_TILE_DOTS_NEON_INL_H_
#else
#define POLARQUANT_QUERY_TILE_DOTS_NEON_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/dense/row_steps-inl.h"
#include "src/simd/capabilities.h"

#if POLAR_SIMD_NEON
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Two steps of four queries' vector and of a row, a lane for each of 16 bytes.
struct TwoSteps {
  int8x16_t first;
  int8x16_t second;
};
HWY_ATTR inline TwoSteps load_steps(const int8_t* queries) {
  return {vld1q_s8(queries), vld1q_s8(queries + kDimsPerStep * kTileQueries)};
}
HWY_ATTR inline TwoSteps steps_of_row(const int8_t* row, int step) {
  return {vreinterpretq_s8_s32(vdupq_n_s32(step_of_row(row, step))),
          vreinterpretq_s8_s32(vdupq_n_s32(step_of_row(row, step + 1)))};
}

/// Dot products of four queries, in two parts each: of two queries in the lanes of each half. Two
/// products of values of −127 to 127 fit 16 bits.
struct FourQueries {
  int32x4_t low = vdupq_n_s32(0);
  int32x4_t high = vdupq_n_s32(0);

  HWY_ATTR HWY_INLINE void add(const TwoSteps& queries, const TwoSteps& row) {
    low = vpadalq_s16(low, vmlal_s8(vmull_s8(vget_low_s8(queries.first), vget_low_s8(row.first)),
                                    vget_low_s8(queries.second), vget_low_s8(row.second)));
    high = vpadalq_s16(
        high, vmlal_high_s8(vmull_high_s8(queries.first, row.first), queries.second, row.second));
  }
  HWY_ATTR HWY_INLINE void store(int32_t* dots) const { vst1q_s32(dots, vpaddq_s32(low, high)); }
};

constexpr int kVectorQueries = 4;

/// kRows rows × kVectors·4 queries in registers.
template <int kRows, int kVectors>
HWY_ATTR void some_dots(const int8_t* rows, int padded_dim, const int8_t* queries, int32_t* dots) {
  FourQueries sums[kRows][kVectors];
  const int steps = padded_dim / kDimsPerStep;  // a multiple of 16
  for (int step = 0; step < steps; step += 2, queries += 2 * kDimsPerStep * kTileQueries) {
    TwoSteps vectors[kVectors];
    for (int i = 0; i < kVectors; ++i)
      vectors[i] = load_steps(queries + i * kDimsPerStep * kVectorQueries);
    for (int r = 0; r < kRows; ++r) {
      const TwoSteps row = steps_of_row(rows + static_cast<size_t>(r) * padded_dim, step);
      for (int i = 0; i < kVectors; ++i) sums[r][i].add(vectors[i], row);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int i = 0; i < kVectors; ++i)
      sums[r][i].store(dots + r * kTileQueries + i * kVectorQueries);
}

HWY_ATTR void all_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                       int32_t* dots) {
  constexpr int kRowsTogether = 4;
  constexpr int kVectorsTogether = 2;
  constexpr int kQueriesTogether = kVectorsTogether * kVectorQueries;
  for (int query_tile = 0; query_tile < count;
       ++query_tile, query_tiles += static_cast<size_t>(padded_dim) * kTileQueries) {
    for (int row = 0; row < kChunkRows; row += kRowsTogether, dots += kRowsTogether * kTileQueries)
      for (int slot = 0; slot < kTileQueries; slot += kQueriesTogether)
        some_dots<kRowsTogether, kVectorsTogether>(values + static_cast<size_t>(row) * padded_dim,
                                                   padded_dim, query_tiles + slot * kDimsPerStep,
                                                   dots + slot);
  }
}

HWY_ATTR void one_row_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                           int count, int32_t* dots) {
  for (int query_tile = 0; query_tile < count; ++query_tile)
    some_dots<1, kTileQueries / kVectorQueries>(
        values, padded_dim,
        query_tiles + static_cast<size_t>(query_tile) * padded_dim * kTileQueries,
        dots + query_tile * kTileQueries);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
