// SPDX-License-Identifier: MIT
// Dot products of a chunk and query tiles with AVX-512 VNNI.
#if defined(POLARQUANT_QUERY_TILE_DOTS_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_QUERY_TILE_DOTS_AVX512_INL_H_
#undef POLARQUANT_QUERY_TILE_DOTS_AVX512_INL_H_
#else
#define POLARQUANT_QUERY_TILE_DOTS_AVX512_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/dense/row_steps-inl.h"
#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"

#if POLAR_SIMD_VNNI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

constexpr int kRowsTogether = 8;

/// A row's sums start at −128·Σ row values: VNNI takes the queries' bytes as value + 128.
HWY_ATTR inline int32_t first_sum(const int8_t* row, int padded_dim) {
  __m512i sums = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi8(1);
  for (int position = 0; position < padded_dim; position += 64)
    sums = dot_bytes(sums, ones, _mm512_load_si512(row + position));
  return -128 * _mm512_reduce_add_epi32(sums);
}

// 8 rows × kQueryTiles query_tiles in registers: each step loads the query_tiles' vectors and
// broadcasts 8 rows' bytes for 8·kQueryTiles dot products. With three query_tiles that is 24
// accumulators, 11 loads for 12 cycles of VNNI.
template <int kQueryTiles>
HWY_ATTR void dots_of_query_tiles(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                                  const int32_t* firsts, int32_t* dots) {
  const int steps = padded_dim / kDimsPerStep;
  const auto query_tile_values = static_cast<size_t>(padded_dim) * kTileQueries;
  const __m512i bias = _mm512_set1_epi8(-128);
  for (int row = 0; row < kChunkRows; row += kRowsTogether) {
    __m512i sums[kRowsTogether][kQueryTiles];
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kQueryTiles; ++p) sums[r][p] = _mm512_set1_epi32(firsts[row + r]);
    }
    const int8_t* rows = values + static_cast<size_t>(row) * padded_dim;
    for (int step = 0; step < steps; ++step) {
      __m512i queries[kQueryTiles];
      for (int p = 0; p < kQueryTiles; ++p) {
        const int8_t* at = query_tiles + p * query_tile_values +
                           static_cast<size_t>(step) * kDimsPerStep * kTileQueries;
        queries[p] = _mm512_xor_si512(_mm512_load_si512(at), bias);
      }
      for (int r = 0; r < kRowsTogether; ++r) {
        const __m512i row_step =
            _mm512_set1_epi32(step_of_row(rows + static_cast<size_t>(r) * padded_dim, step));
        for (int p = 0; p < kQueryTiles; ++p)
          sums[r][p] = dot_bytes(sums[r][p], queries[p], row_step);
      }
    }
    for (int r = 0; r < kRowsTogether; ++r) {
      for (int p = 0; p < kQueryTiles; ++p)
        _mm512_store_si512(dots + (p * kChunkRows + row + r) * kTileQueries, sums[r][p]);
    }
  }
}

HWY_ATTR void all_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                       int32_t* dots) {
  alignas(64) int32_t firsts[kChunkRows];
  for (int row = 0; row < kChunkRows; ++row)
    firsts[row] = first_sum(values + static_cast<size_t>(row) * padded_dim, padded_dim);
  const auto query_tile_values = static_cast<size_t>(padded_dim) * kTileQueries;
  int query_tile = 0;
  for (; query_tile + 3 <= count; query_tile += 3) {
    dots_of_query_tiles<3>(values, padded_dim, query_tiles + query_tile * query_tile_values, firsts,
                           dots + query_tile * kChunkRows * kTileQueries);
  }
  for (; query_tile < count; ++query_tile) {
    dots_of_query_tiles<1>(values, padded_dim, query_tiles + query_tile * query_tile_values, firsts,
                           dots + query_tile * kChunkRows * kTileQueries);
  }
}

// Four chains of sums a query tile: each is a load of 64 bytes, in the order of memory.
HWY_ATTR void one_row_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                           int count, int32_t* dots) {
  constexpr int kChains = 4;
  const int steps = padded_dim / kDimsPerStep;  // a multiple of 16
  const __m512i bias = _mm512_set1_epi8(-128);
  const int32_t first = first_sum(values, padded_dim);
  for (int query_tile = 0; query_tile < count; ++query_tile, dots += kTileQueries) {
    __m512i sums[kChains] = {_mm512_set1_epi32(first), _mm512_setzero_si512(),
                             _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int step = 0; step < steps; step += kChains) {
      for (int i = 0; i < kChains; ++i, query_tiles += kDimsPerStep * kTileQueries) {
        const __m512i queries = _mm512_xor_si512(_mm512_load_si512(query_tiles), bias);
        sums[i] = dot_bytes(sums[i], queries, _mm512_set1_epi32(step_of_row(values, step + i)));
      }
    }
    _mm512_storeu_si512(dots, _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]),
                                               _mm512_add_epi32(sums[2], sums[3])));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
