// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/amx_dots.h"

#include "src/scan/kernels/dense/query_tile_dots.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#include <atomic>

#include "src/core/platform/platform.h"

namespace polarquant {
namespace {

std::atomic<bool> amx_is_allowed{true};

constexpr int kTileRows16 = 16;
constexpr int kTileDims = 64;

bool cpu_has_amx_bytes() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kTile = 1U << 24;
  constexpr unsigned kInt8 = 1U << 25;
  return (d & kTile) != 0 && (d & kInt8) != 0;
}

/// Operand of ldtilecfg: Intel SDM, vol. 1, 18.3.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

}  // namespace

bool amx_is_usable() noexcept {
  static const bool usable = cpu_has_amx_bytes() && platform::permits_amx_tiles();
  return usable && amx_is_allowed.load(std::memory_order_relaxed);
}

void allow_amx(bool allowed) noexcept { amx_is_allowed.store(allowed, std::memory_order_relaxed); }

__attribute__((target("amx-tile"))) void amx_begin() noexcept {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kTileDims;
    config.rows[tile] = kTileRows16;
  }
  // GCC takes the intrinsic to read 8 bytes, and would drop the writes of the others.
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

__attribute__((target("amx-tile"))) void amx_end() noexcept { _tile_release(); }

// 32 rows × 32 queries in four accumulators: each of four loaded tiles is used twice. Loads before
// all four products leave them the most time. The last query tile of an odd number is taken twice,
// and written twice.
__attribute__((target("amx-tile,amx-int8"))) void amx_query_tile_dots(const int8_t* values,
                                                                      int padded_dim,
                                                                      const int8_t* query_tiles,
                                                                      int count, int32_t* dots) {
  constexpr size_t kTileValues = size_t{kTileDims} * kTileQueries;
  constexpr size_t kQueryTileDots = size_t{kChunkRows} * kTileQueries;
  constexpr size_t kTileDots = size_t{kTileRows16} * kTileQueries;
  const auto query_tile_bytes = static_cast<size_t>(padded_dim) * kTileQueries;
  for (int query_tile = 0; query_tile < count; query_tile += 2) {
    const int next = query_tile + 1 < count ? query_tile + 1 : query_tile;
    for (int row = 0; row < kChunkRows; row += 2 * kTileRows16) {
      const int8_t* queries0 = query_tiles + query_tile * query_tile_bytes;
      const int8_t* queries1 = query_tiles + next * query_tile_bytes;
      const int8_t* rows0 = values + static_cast<size_t>(row) * padded_dim;
      const int8_t* rows1 = rows0 + static_cast<size_t>(kTileRows16) * padded_dim;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (int position = 0; position < padded_dim; position += kTileDims) {
        _tile_loadd(6, queries0, kTileDims);
        _tile_loadd(7, queries1, kTileDims);
        _tile_loadd(4, rows0 + position, padded_dim);
        _tile_loadd(5, rows1 + position, padded_dim);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
        queries0 += kTileValues;
        queries1 += kTileValues;
      }
      int32_t* out0 = dots + query_tile * kQueryTileDots + static_cast<size_t>(row) * kTileQueries;
      int32_t* out1 = dots + next * kQueryTileDots + static_cast<size_t>(row) * kTileQueries;
      constexpr int kStride = kTileQueries * sizeof(int32_t);
      _tile_stored(0, out0, kStride);
      _tile_stored(1, out1, kStride);
      _tile_stored(2, out0 + kTileDots, kStride);
      _tile_stored(3, out1 + kTileDots, kStride);
    }
  }
}

}  // namespace polarquant

#else

#include "src/core/status.h"

namespace polarquant {

bool amx_is_usable() noexcept { return false; }
void allow_amx(bool /*allowed*/) noexcept {}
void amx_begin() noexcept {}
void amx_end() noexcept {}
void amx_query_tile_dots(const int8_t*, int, const int8_t*, int, int32_t*) {
  fail(StatusCode::internal, "AMX kernels are for x86-64");
}

}  // namespace polarquant

#endif
