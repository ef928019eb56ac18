// SPDX-License-Identifier: MIT
// SQL functions, which need no table.
#pragma once

#include "sqlite_api.h"

namespace polarquant::sqlite {

/// Registers polar_version, polar_encode, polar_decode, polar_distance and polar_code_distance.
/// Returns SQLite's code.
int register_functions(sqlite3* db);

}  // namespace polarquant::sqlite
