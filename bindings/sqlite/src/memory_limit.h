// SPDX-License-Identifier: MIT
// How much memory a connection gives to each table's codes: polar_memory_limit(bytes).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "sqlite_api.h"

namespace polarquant::sqlite {

struct MemoryLimit {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t bytes = kNone;
};
/// Of one connection: its tables look at it, and the function sets it.
using SharedMemoryLimit = std::shared_ptr<MemoryLimit>;
/// Of a copy by `new` that SQLite was given; it calls this in every case.
inline void release_limit(void* copy) { delete static_cast<SharedMemoryLimit*>(copy); }

/// Returns SQLite's code.
int register_memory_limit(sqlite3* db, const SharedMemoryLimit& limit);

}  // namespace polarquant::sqlite
