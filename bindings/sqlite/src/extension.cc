// SPDX-License-Identifier: MIT
// The entry point that SQLite calls when it loads polarquant_sqlite.
#include <sqlite3ext.h>

#include <memory>

#include "memory_limit.h"
#include "module.h"
#include "row_filter.h"
#include "scalar_functions.h"
#include "sql_error.h"

SQLITE_EXTENSION_INIT1

extern "C" {

#if defined(_WIN32)
#define POLARQUANT_SQLITE_API __declspec(dllexport)
#else
#define POLARQUANT_SQLITE_API __attribute__((visibility("default")))
#endif

// SQLite makes the name from the file's, without what is no letter.
POLARQUANT_SQLITE_API int sqlite3_polarquantsqlite_init(sqlite3* db, char** error,
                                                        const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  // sqlite3_vtab_in, without which "IN" would not be a filter.
  constexpr int kOldest = 3038000;
  if (sqlite3_libversion_number() < kOldest) {
    *error = sqlite3_mprintf("polarquant_sqlite needs SQLite 3.38 or newer; this is %s",
                             sqlite3_libversion());
    return SQLITE_ERROR;
  }
  using namespace polarquant::sqlite;
  return catch_errors(error, [db] {
    const auto limit = std::make_shared<MemoryLimit>();
    for (const int code : {register_module(db, limit), register_memory_limit(db, limit),
                           register_filter_function(db), register_functions(db)})
      if (code != SQLITE_OK) throw connection_error(db, code);
  });
}

}  // extern "C"
