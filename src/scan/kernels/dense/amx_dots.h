// SPDX-License-Identifier: MIT
// Dot products of query tiles on Intel's AMX: 16 rows × 16 queries × 64 bytes in one instruction,
// eight times VNNI's rate.
#pragma once

#include <cstdint>

namespace polarquant {

/// Whether this machine has AMX for bytes, the kernel lets this process use it and allow_amx()
/// does.
bool amx_is_usable() noexcept;
/// With false, dots of query tiles in this process run without AMX, as tests need it. Not between
/// amx_begin() and amx_end().
void allow_amx(bool allowed) noexcept;
/// Sets up the tile registers of this thread, and gives them back.
void amx_begin() noexcept;
void amx_end() noexcept;
/// As query_tile_dots; between amx_begin() and amx_end().
void amx_query_tile_dots(const int8_t* values, int padded_dim, const int8_t* query_tiles, int count,
                         int32_t* dots);

}  // namespace polarquant
