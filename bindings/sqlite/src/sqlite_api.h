// SPDX-License-Identifier: MIT
// SQLite as a loadable extension sees it: every sqlite3_… below is a call through the table that
// SQLite hands over when it loads the extension. extension.cc defines the table's pointer.
#pragma once

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3
