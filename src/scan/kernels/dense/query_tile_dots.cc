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

#include "src/scan/kernels/dense/query_tile_dots_avx2-inl.h"
#include "src/scan/kernels/dense/query_tile_dots_avx512-inl.h"
#include "src/scan/kernels/dense/query_tile_dots_neon-inl.h"
#include "src/scan/kernels/dense/row_steps-inl.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_AVX2 || POLAR_SIMD_NEON
// In headers of their own.
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

#if !POLAR_SIMD_AVX2 || POLAR_SIMD_VNNI

HWY_ATTR void small_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots) {
  best_dots(values, padded_dim, query_tiles, count, dots);
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
HWY_EXPORT(small_dots);
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

void query_tile_dots_of_small(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                              int count, int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(small_dots)(values, padded_dim, query_tiles, count, dots);
}

void row_query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(one_row_dots)(values, padded_dim, query_tiles, count, dots);
}

}  // namespace polarquant
#endif
