// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/query_tile_dots.h"

#include <cstring>

#include "src/scan/kernels/dense/amx_dots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/query_tile_dots.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"
#include "src/simd/dot_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Positions 4·step … 4·step+3 of a row.
HWY_ATTR inline int32_t step_of_row(const int8_t* row, int step) {
  int32_t bits;
  std::memcpy(&bits, row + static_cast<size_t>(step) * kDimsPerStep, sizeof bits);
  return bits;
}

#if POLAR_SIMD_VNNI

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

#elif POLAR_SIMD_AVX2

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

#elif POLAR_SIMD_SCALAR

/// Dot products of a row with a query tile's 16 queries.
void row_dots(const int8_t* row, int padded_dim, const int8_t* query_tile, int32_t* dots) {
  for (int query = 0; query < kTileQueries; ++query) {
    int32_t sum = 0;
    for (int position = 0; position < padded_dim; ++position) {
      const size_t at =
          (static_cast<size_t>(position / kDimsPerStep) * kTileQueries + query) * kDimsPerStep;
      sum += row[position] * query_tile[at + position % kDimsPerStep];
    }
    dots[query] = sum;
  }
}

void all_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
              int32_t* dots) {
  for (int query_tile = 0; query_tile < count;
       ++query_tile, query_tiles += padded_dim * kTileQueries) {
    for (int row = 0; row < kChunkRows; ++row, dots += kTileQueries)
      row_dots(values + static_cast<size_t>(row) * padded_dim, padded_dim, query_tiles, dots);
  }
}

void one_row_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                  int32_t* dots) {
  for (int query_tile = 0; query_tile < count;
       ++query_tile, query_tiles += padded_dim * kTileQueries)
    row_dots(values, padded_dim, query_tiles, dots + query_tile * kTileQueries);
}

#else

constexpr int kRowsTogether = 4;

/// sums + the two products of 16-bit numbers in each 32-bit lane.
template <class V32, class V16>
HWY_ATTR V32 add_pairs(V32 sums, V16 a, V16 b) {
#if POLAR_SIMD_X86
  const hn::DFromV<V32> d32;
  V32 unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, b, sums, unused);  // pmaddwd
#else
  // Elsewhere that operation pairs other lanes: the halves are multiplied as 32-bit numbers.
  const auto low = [](V16 v) HWY_ATTR {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(hn::DFromV<V32>(), v)));
  };
  const auto high = [](V16 v)
                        HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(hn::DFromV<V32>(), v)); };
  return hn::Add(hn::Add(sums, hn::Mul(low(a), low(b))), hn::Mul(high(a), high(b)));
#endif
}

/// Bytes 0 and 2, or 1 and 3, of each 32-bit lane as 16-bit numbers.
template <class V16>
HWY_ATTR V16 even_bytes(V16 v) {
  return hn::ShiftRight<8>(hn::ShiftLeft<8>(v));
}
template <class V16>
HWY_ATTR V16 odd_bytes(V16 v) {
  return hn::ShiftRight<8>(v);
}

// Four rows share the load of a query tile's vector, and its two halves.
HWY_ATTR void all_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                       int32_t* dots) {
  const hn::CappedTag<int32_t, kTileQueries> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const int vector = static_cast<int>(hn::Lanes(d32));
  const int steps = padded_dim / kDimsPerStep;
  for (int slot = 0; slot < count * kTileQueries; slot += vector) {
    const int8_t* query_tile =
        query_tiles + static_cast<size_t>(slot / kTileQueries) * padded_dim * kTileQueries;
    const int32_t* queries = reinterpret_cast<const int32_t*>(query_tile) + slot % kTileQueries;
    for (int row = 0; row < kChunkRows; row += kRowsTogether) {
      const int8_t* r0 = values + static_cast<size_t>(row) * padded_dim;
      const int8_t* r1 = r0 + padded_dim;
      const int8_t* r2 = r1 + padded_dim;
      const int8_t* r3 = r2 + padded_dim;
      auto s0 = hn::Zero(d32);
      auto s1 = s0;
      auto s2 = s0;
      auto s3 = s0;
      const auto row_step = [&](const int8_t* r, int step) HWY_ATTR {
        return hn::BitCast(d16, hn::Set(d32, step_of_row(r, step)));
      };
      for (int step = 0; step < steps; ++step) {
        const auto q =
            hn::BitCast(d16, hn::Load(d32, queries + static_cast<size_t>(step) * kTileQueries));
        const auto x0 = row_step(r0, step);
        const auto x1 = row_step(r1, step);
        const auto x2 = row_step(r2, step);
        const auto x3 = row_step(r3, step);
        const auto even = even_bytes(q);
        const auto odd = odd_bytes(q);
        s0 = add_pairs(add_pairs(s0, even, even_bytes(x0)), odd, odd_bytes(x0));
        s1 = add_pairs(add_pairs(s1, even, even_bytes(x1)), odd, odd_bytes(x1));
        s2 = add_pairs(add_pairs(s2, even, even_bytes(x2)), odd, odd_bytes(x2));
        s3 = add_pairs(add_pairs(s3, even, even_bytes(x3)), odd, odd_bytes(x3));
      }
      int32_t* out =
          dots + (slot / kTileQueries * kChunkRows + row) * kTileQueries + slot % kTileQueries;
      hn::Store(s0, d32, out);
      hn::Store(s1, d32, out + kTileQueries);
      hn::Store(s2, d32, out + 2 * kTileQueries);
      hn::Store(s3, d32, out + 3 * kTileQueries);
    }
  }
}

HWY_ATTR void one_row_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                           int count, int32_t* dots) {
  const hn::CappedTag<int32_t, kTileQueries> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const int vector = static_cast<int>(hn::Lanes(d32));
  const int steps = padded_dim / kDimsPerStep;
  for (int slot = 0; slot < count * kTileQueries; slot += vector) {
    const int8_t* query_tile =
        query_tiles + static_cast<size_t>(slot / kTileQueries) * padded_dim * kTileQueries;
    const int32_t* queries = reinterpret_cast<const int32_t*>(query_tile) + slot % kTileQueries;
    auto even_sums = hn::Zero(d32);
    auto odd_sums = even_sums;
    for (int step = 0; step < steps; ++step) {
      const auto q =
          hn::BitCast(d16, hn::Load(d32, queries + static_cast<size_t>(step) * kTileQueries));
      const auto x = hn::BitCast(d16, hn::Set(d32, step_of_row(values, step)));
      even_sums = add_pairs(even_sums, even_bytes(q), even_bytes(x));
      odd_sums = add_pairs(odd_sums, odd_bytes(q), odd_bytes(x));
    }
    hn::StoreU(hn::Add(even_sums, odd_sums), d32, dots + slot);
  }
}

#endif

#if POLAR_SIMD_VNNI

bool uses_amx() { return amx_is_usable(); }

HWY_ATTR void best_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                        int32_t* dots) {
  if (amx_is_usable()) return amx_query_tile_dots(values, padded_dim, query_tiles, count, dots);
  all_dots(values, padded_dim, query_tiles, count, dots);
}

#else

bool uses_amx() { return false; }

HWY_ATTR void best_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                        int32_t* dots) {
  all_dots(values, padded_dim, query_tiles, count, dots);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

void put_in_query_tile(const int8_t* values, int padded_dim, int slot, int8_t* query_tile) {
  for (int step = 0; step < padded_dim / kDimsPerStep; ++step) {
    std::memcpy(query_tile + (static_cast<size_t>(step) * kTileQueries + slot) * kDimsPerStep,
                values + static_cast<size_t>(step) * kDimsPerStep, kDimsPerStep);
  }
}

HWY_EXPORT(uses_amx);
HWY_EXPORT(best_dots);
HWY_EXPORT(one_row_dots);

QueryTileSession::QueryTileSession() : tiles_(HWY_DYNAMIC_DISPATCH(uses_amx)()) {
  if (tiles_) amx_begin();
}

QueryTileSession::~QueryTileSession() {
  if (tiles_) amx_end();
}

bool query_tile_dots_use_amx() { return HWY_DYNAMIC_DISPATCH(uses_amx)(); }

void query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                     int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(best_dots)(values, padded_dim, query_tiles, count, dots);
}

void row_query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(one_row_dots)(values, padded_dim, query_tiles, count, dots);
}

}  // namespace polarquant
#endif
