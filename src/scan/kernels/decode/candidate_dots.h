// SPDX-License-Identifier: MIT
// The last stage of a staged search: the dot products of the rows that the bounds leave.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// dots[i] = Σ query value·value of one stage of row rows[i] of the tile; `dots` and `rows` have
/// space for 4 more. `scratch`: the values of one row, (codec.padded_dim()), on a 64-byte boundary.
void candidate_dots(const ScanTile& tile, const ScanCodec& codec, const Int8Stage& stage,
                    const ScanQuery& query, uint32_t* rows, int count, int8_t* scratch,
                    int32_t* dots);
/// The same for rows wherever they lie, which were fetched before; `at` has space for 4 more too.
void place_dots(const ScanCodec& codec, const Int8Stage& stage, const ScanQuery& query,
                RowPlace* at, int count, int8_t* scratch, int32_t* dots);

}  // namespace polarquant
