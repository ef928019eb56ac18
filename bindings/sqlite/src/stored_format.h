// SPDX-License-Identifier: MIT
// Numbers that decide how shadow tables are read.
#pragma once

#include <cstdint>

namespace polarquant::sqlite {

/// Of the shadow tables. A library refuses newer ones.
inline constexpr int64_t kFormat = 1;
/// Rows of a record of codes, all but the last, which has those that are left.
inline constexpr int64_t kPageRows = 1024;
/// Rows that a codec which needs no training learns from, as an index does.
inline constexpr int64_t kRowsToLearn = 1000;

}  // namespace polarquant::sqlite
