// SPDX-License-Identifier: MIT
// The dense scan: dot products of every row of a chunk with every query of a query tile.
//
// A query tile is 16 queries side by side: 4 positions of query 0, the same 4 of query 1, …: what a
// 32-bit lane of VNNI and AMX takes. Rows are as decode_int8_rows (decode_rows.h) leaves them.
#pragma once

#include <cstdint>

#include "src/scan/model/scan_query.h"

namespace polarquant {

inline constexpr int kTileQueries = 16;
inline constexpr int kDimsPerStep = 4;
/// Rows of a chunk, as many as of a block. Chunks are always full: rows that are none give
/// meaningless dots.
inline constexpr int kChunkRows = kBlockRows;

/// Writes a query's values, (padded_dim), as query `slot` (0 to 15) of a query tile of
/// padded_dim·16 values. padded_dim is a multiple of 64.
void put_in_query_tile(const int8_t* values, int padded_dim, int slot, int8_t* query_tile);

/// Query tiles for that many queries.
constexpr int64_t query_tiles_of(int64_t queries) {
  return (queries + kTileQueries - 1) / kTileQueries;
}

/// Whether dots run on AMX here: several times as fast as any other form.
bool query_tile_dots_use_amx();
/// Query tiles to give to query_tile_dots at a time, as many as its kernels take together (AMX two,
/// VNNI three): their dots then stay in the first-level cache beside the chunk's values.
inline constexpr int kMaxQueryTilesTogether = 3;
inline int query_tiles_together() { return query_tile_dots_use_amx() ? 2 : kMaxQueryTilesTogether; }

/// Lives around calls of query_tile_dots, on their thread: sets up what the machine's AMX needs.
class QueryTileSession {
 public:
  QueryTileSession();
  ~QueryTileSession();
  QueryTileSession(const QueryTileSession&) = delete;
  QueryTileSession& operator=(const QueryTileSession&) = delete;

 private:
  bool tiles_;
};

/// dots[(p·kChunkRows + row)·16 + slot] = Σ value·value of row `row` with that query of tile p.
/// values: (kChunkRows, padded_dim); query_tiles: `count` of them, one after the other; all on
/// 64-byte boundaries.
void query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                     int32_t* dots);
/// The same for values of −63 to 63 on both sides: with AVX2 two of their products fit 16 bits
/// together.
inline constexpr int kMaxSmallValue = 63;
void query_tile_dots_of_small(const int8_t* values, int padded_dim, const int8_t* query_tiles,
                              int count, int32_t* dots);
/// For one row, (padded_dim): dots[p·16 + slot].
void row_query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots);

}  // namespace polarquant
