// SPDX-License-Identifier: MIT
// The module "polar" of CREATE VIRTUAL TABLE … USING polar(…): SQLite's calls, each turned into one
// of PolarTable or Cursor.
#pragma once

#include "memory_limit.h"
#include "sqlite_api.h"

namespace polarquant::sqlite {

/// Returns SQLite's code. limit: of the connection, for all tables.
int register_module(sqlite3* db, const SharedMemoryLimit& limit);

}  // namespace polarquant::sqlite
