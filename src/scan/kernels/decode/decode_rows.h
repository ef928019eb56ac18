// SPDX-License-Identifier: MIT
// Rows as int8 values, for scores: decoded from windows or bytes, signs applied.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Decodes one stage of `count` rows, up to kBlockRows, into values: (stage.padded_dim()) every
/// `stride` bytes, on 64-byte boundaries; others than a part's coordinates get any value.
void decode_int8_rows(const ScanCodec& codec, const Int8Stage& stage, const RowPlace* at, int count,
                      size_t stride, int8_t* values);
/// The same into (count, stage.padded_dim()).
void decode_int8_rows(const ScanCodec& codec, const Int8Stage& stage, const RowPlace* at, int count,
                      int8_t* values);
/// The same for any number of rows of a tile.
void decode_int8_rows(const ScanTile& tile, const ScanCodec& codec, const Int8Stage& stage,
                      const uint32_t* rows, int count, int8_t* values);

/// Writes 64 values a row, every `stride` bytes: ±value by the bits of one of its sign words.
void put_sign_values(const ScanCodec& codec, int word, int8_t value, const RowPlace* at, int count,
                     size_t stride, int8_t* out);

/// Turns rows of values, (padded_dim) every `stride` bytes on 64-byte boundaries, into the first
/// operand of products of bytes on this machine: 128 + value where that operand has no sign.
void set_operand_rows(int8_t* values, int count, int padded_dim, size_t stride);

/// dots[i] = Σ query value·value over the stage, row i of `values`.
void dot_int8_rows(const Int8Stage& stage, const ScanQuery& query, const int8_t* values, int count,
                   int32_t* dots);

}  // namespace polarquant
