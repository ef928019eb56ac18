// SPDX-License-Identifier: MIT
// Rows as integer levels, for scores: decoded from windows or bytes, signs applied.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Decodes one stage of `count` rows, up to kBlockRows, into levels: (stage.padded_dim()) every
/// `stride` bytes, on 64-byte boundaries; lanes without a coordinate, or of no part, get any value.
void decode_level_rows(const ScanCodec& codec, const LevelStage& stage, const RowPlace* at,
                       int count, size_t stride, int8_t* levels);
/// One row behind the other, (count, stage.padded_dim()).
void decode_level_rows(const ScanCodec& codec, const LevelStage& stage, const RowPlace* at,
                       int count, int8_t* levels);
/// The same of any number of rows of a tile.
void decode_level_rows(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                       const uint32_t* rows, int count, int8_t* levels);

/// Of each row 64 lanes, every `stride` bytes: ±level by the bits of one of its sign words.
void put_sign_lanes(const ScanCodec& codec, int word, int8_t level, const RowPlace* at, int count,
                    size_t stride, int8_t* lanes);

/// Turns rows of levels, (lanes) every `stride` bytes on 64-byte boundaries, into what kernels here
/// take for the one operand of products of bytes: 128 + level where that is one without sign.
void set_operand_rows(int8_t* levels, int count, int lanes, size_t stride);

/// dots[i] = Σ query level·level over the stage's lanes, row i of `levels`.
void dot_level_rows(const LevelStage& stage, const ScanQuery& query, const int8_t* levels,
                    int count, int32_t* dots);

}  // namespace polarquant
