// SPDX-License-Identifier: MIT
// The module "polar" of CREATE VIRTUAL TABLE … USING polar(…): SQLite's calls, each turned into one
// of PolarTable or Cursor.
#pragma once

#include "sqlite_api.h"

namespace polarquant::sqlite {

const sqlite3_module& polar_module();

}  // namespace polarquant::sqlite
