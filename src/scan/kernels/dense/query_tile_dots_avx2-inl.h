// SPDX-License-Identifier: MIT
// Dot products of a chunk and query tiles with AVX2.
#if defined(POLARQUANT_QUERY_TILE_DOTS_AVX2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_QUERY_TILE_DOTS_AVX2_INL_H_
#undef POLARQUANT_QUERY_TILE_DOTS_AVX2_INL_H_
#else
#define POLARQUANT_QUERY_TILE_DOTS_AVX2_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/dense/row_steps-inl.h"
#include "src/simd/capabilities.h"
#include "src/simd/dot_row-inl.h"

#if POLAR_SIMD_AVX2 && !POLAR_SIMD_VNNI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

constexpr int kRowsTogether = 4;
constexpr int kVectorsOfTile = 2;

/// A step of a query tile.
HWY_ATTR inline const __m256i* vectors_of_step(const int8_t* query_tile, int step) {
  return reinterpret_cast<const __m256i*>(query_tile +
                                          static_cast<size_t>(step) * kDimsPerStep * kTileQueries);
}

// Four rows × a query tile in registers. By products of 16 bits, for which both sides are widened,
// the dense scan of Polar4 at 384 dimensions took 1.7 times as long (Zen 3).
HWY_ATTR void all_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                       int32_t* dots) {
  const int steps = padded_dim / kDimsPerStep;
  for (int query_tile = 0; query_tile < count;
       ++query_tile, query_tiles += static_cast<size_t>(padded_dim) * kTileQueries) {
    for (int row = 0; row < kChunkRows;
         row += kRowsTogether, dots += kRowsTogether * kTileQueries) {
      const int8_t* rows = values + static_cast<size_t>(row) * padded_dim;
      __m256i sums[kRowsTogether][kVectorsOfTile];
      for (auto& row_sums : sums)
        for (__m256i& sum : row_sums) sum = _mm256_setzero_si256();
      for (int step = 0; step < steps; ++step) {
        const __m256i* at = vectors_of_step(query_tiles, step);
        const __m256i queries[kVectorsOfTile] = {_mm256_load_si256(at), _mm256_load_si256(at + 1)};
#pragma GCC unroll 4
        for (int r = 0; r < kRowsTogether; ++r) {
          const __m256i row_step =
              _mm256_set1_epi32(step_of_row(rows + static_cast<size_t>(r) * padded_dim, step));
#pragma GCC unroll 2
          for (int i = 0; i < kVectorsOfTile; ++i)
            sums[r][i] = dot_signed_bytes(sums[r][i], queries[i], row_step);
        }
      }
      auto* out = reinterpret_cast<__m256i*>(dots);
      for (const auto& row_sums : sums)
        for (const __m256i& sum : row_sums) _mm256_store_si256(out++, sum);
    }
  }
}

/// Σ value of a row, times −64.
HWY_ATTR inline int32_t first_sum_of_small(const int8_t* row, int padded_dim) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i sums = _mm256_setzero_si256();
  for (int position = 0; position < padded_dim; position += 32) {
    const __m256i values = _mm256_load_si256(reinterpret_cast<const __m256i*>(row + position));
    sums = _mm256_add_epi32(
        sums, _mm256_madd_epi16(_mm256_maddubs_epi16(ones, values), _mm256_set1_epi16(1)));
  }
  return -(kMaxSmallValue + 1) * sum_lanes(sums);
}

// The tile's bytes are taken as value + 64, so that two products of bytes, and two more, fit 16
// bits: 5 instructions for what takes all_dots 8.
HWY_ATTR void small_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots) {
  constexpr int kSteps = 2;
  const int steps = padded_dim / kDimsPerStep;
  const __m256i bias = _mm256_set1_epi8(kMaxSmallValue + 1);
  const __m256i ones = _mm256_set1_epi16(1);
  int32_t firsts[kChunkRows];
  for (int row = 0; row < kChunkRows; ++row)
    firsts[row] = first_sum_of_small(values + static_cast<size_t>(row) * padded_dim, padded_dim);
  for (int query_tile = 0; query_tile < count;
       ++query_tile, query_tiles += static_cast<size_t>(padded_dim) * kTileQueries) {
    for (int row = 0; row < kChunkRows;
         row += kRowsTogether, dots += kRowsTogether * kTileQueries) {
      const int8_t* rows = values + static_cast<size_t>(row) * padded_dim;
      __m256i sums[kRowsTogether][kVectorsOfTile];
      for (int r = 0; r < kRowsTogether; ++r)
        for (__m256i& sum : sums[r]) sum = _mm256_set1_epi32(firsts[row + r]);
      for (int step = 0; step < steps; step += kSteps) {
        __m256i queries[kSteps][kVectorsOfTile];
#pragma GCC unroll 2
        for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 2
          for (int i = 0; i < kVectorsOfTile; ++i)
            queries[s][i] = _mm256_add_epi8(
                _mm256_load_si256(vectors_of_step(query_tiles, step + s) + i), bias);
#pragma GCC unroll 4
        for (int r = 0; r < kRowsTogether; ++r) {
          const int8_t* at = rows + static_cast<size_t>(r) * padded_dim;
          const __m256i first = _mm256_set1_epi32(step_of_row(at, step));
          const __m256i second = _mm256_set1_epi32(step_of_row(at, step + 1));
#pragma GCC unroll 2
          for (int i = 0; i < kVectorsOfTile; ++i) {
            const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(queries[0][i], first),
                                                   _mm256_maddubs_epi16(queries[1][i], second));
            sums[r][i] = _mm256_add_epi32(sums[r][i], _mm256_madd_epi16(pairs, ones));
          }
        }
      }
      auto* out = reinterpret_cast<__m256i*>(dots);
      for (const auto& row_sums : sums)
        for (const __m256i& sum : row_sums) _mm256_store_si256(out++, sum);
    }
  }
}

HWY_ATTR void one_row_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                           int count, int32_t* dots) {
  constexpr int kChains = 2;
  const int steps = padded_dim / kDimsPerStep;  // a multiple of 16
  for (int query_tile = 0; query_tile < count; ++query_tile, dots += kTileQueries,
           query_tiles += static_cast<size_t>(padded_dim) * kTileQueries) {
    __m256i sums[kChains][kVectorsOfTile];
    for (auto& chain : sums)
      for (__m256i& sum : chain) sum = _mm256_setzero_si256();
    for (int step = 0; step < steps; step += kChains) {
#pragma GCC unroll 2
      for (int chain = 0; chain < kChains; ++chain) {
        const __m256i* at = vectors_of_step(query_tiles, step + chain);
        const __m256i row_step = _mm256_set1_epi32(step_of_row(values, step + chain));
#pragma GCC unroll 2
        for (int i = 0; i < kVectorsOfTile; ++i)
          sums[chain][i] = dot_signed_bytes(sums[chain][i], _mm256_load_si256(at + i), row_step);
      }
    }
    auto* out = reinterpret_cast<__m256i*>(dots);
    for (int i = 0; i < kVectorsOfTile; ++i)
      _mm256_storeu_si256(out + i, _mm256_add_epi32(sums[0][i], sums[1][i]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
