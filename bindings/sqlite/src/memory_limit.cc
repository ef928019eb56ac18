// SPDX-License-Identifier: MIT
#include "memory_limit.h"

#include <algorithm>
#include <string>

#include "sql_error.h"

namespace polarquant::sqlite {
namespace {

/// () returns the limit, NULL for none; (bytes), of which NULL is none, sets it first.
void memory_limit(sqlite3_context* context, int count, sqlite3_value** values) {
  MemoryLimit& limit = **static_cast<SharedMemoryLimit*>(sqlite3_user_data(context));
  if (count == 1 && sqlite3_value_type(values[0]) == SQLITE_NULL) {
    limit.bytes = MemoryLimit::kNone;
  } else if (count == 1) {
    const int64_t bytes = sqlite3_value_int64(values[0]);
    if (sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER || bytes < 0) {
      sqlite3_result_error(context, "polar_memory_limit: a number of bytes from 0, or NULL", -1);
      return;
    }
    limit.bytes = bytes;
  }
  if (limit.bytes != MemoryLimit::kNone) sqlite3_result_int64(context, limit.bytes);
}

}  // namespace

int register_memory_limit(sqlite3* db, const SharedMemoryLimit& limit) {
  for (const int arguments : {0, 1}) {
    // What a view or a trigger calls may not set it.
    const int code = sqlite3_create_function_v2(
        db, "polar_memory_limit", arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY,
        new SharedMemoryLimit(limit), memory_limit, nullptr, nullptr, release_limit);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace polarquant::sqlite
