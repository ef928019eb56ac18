// SPDX-License-Identifier: MIT
#include "tests/sqlite/failing_sqlite.h"

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <new>

#include "tests/support/catch.h"

namespace polarquant::test::sqlite {
namespace {

struct Countdown {
  std::atomic<bool> is_on{false};
  std::atomic<bool> onward{false};
  std::atomic<int64_t> left{0};
  std::atomic<bool> has_failed{false};

  bool fails() {
    if (!is_on) return false;
    const int64_t now = left.fetch_sub(1);
    if (now > 0 || (now < 0 && !onward)) return false;
    has_failed = true;
    return true;
  }
};
Countdown g_countdowns[2];
Countdown& countdown(Resource resource) { return g_countdowns[static_cast<int>(resource)]; }

sqlite3_mem_methods g_memory;

void* failing_malloc(int bytes) {
  return countdown(Resource::memory).fails() ? nullptr : g_memory.xMalloc(bytes);
}
void* failing_realloc(void* memory, int bytes) {
  return countdown(Resource::memory).fails() ? nullptr : g_memory.xRealloc(memory, bytes);
}

/// SQLite's own file comes after it.
struct FailingFile {
  sqlite3_file base;
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
sqlite3_file* file_of(sqlite3_file* file) { return reinterpret_cast<FailingFile*>(file)->file(); }
bool file_fails() { return countdown(Resource::files).fails(); }

int close(sqlite3_file* file) { return file_of(file)->pMethods->xClose(file_of(file)); }
int read(sqlite3_file* file, void* data, int bytes, sqlite3_int64 at) {
  if (file_fails()) return SQLITE_IOERR_READ;
  return file_of(file)->pMethods->xRead(file_of(file), data, bytes, at);
}
int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 at) {
  if (file_fails()) {
    // Half of it may have come to the disk.
    file_of(file)->pMethods->xWrite(file_of(file), data, bytes / 2, at);
    return SQLITE_IOERR_WRITE;
  }
  return file_of(file)->pMethods->xWrite(file_of(file), data, bytes, at);
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (file_fails()) return SQLITE_IOERR_TRUNCATE;
  return file_of(file)->pMethods->xTruncate(file_of(file), size);
}
int sync(sqlite3_file* file, int flags) {
  if (file_fails()) return SQLITE_IOERR_FSYNC;
  return file_of(file)->pMethods->xSync(file_of(file), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return file_of(file)->pMethods->xFileSize(file_of(file), size);
}
int lock(sqlite3_file* file, int kind) {
  return file_of(file)->pMethods->xLock(file_of(file), kind);
}
int unlock(sqlite3_file* file, int kind) {
  return file_of(file)->pMethods->xUnlock(file_of(file), kind);
}
int check_reserved_lock(sqlite3_file* file, int* out) {
  return file_of(file)->pMethods->xCheckReservedLock(file_of(file), out);
}
int file_control(sqlite3_file* file, int kind, void* data) {
  return file_of(file)->pMethods->xFileControl(file_of(file), kind, data);
}
int sector_size(sqlite3_file* file) { return file_of(file)->pMethods->xSectorSize(file_of(file)); }
int characteristics(sqlite3_file* file) {
  return file_of(file)->pMethods->xDeviceCharacteristics(file_of(file));
}
int map_shared(sqlite3_file* file, int page, int bytes, int extend, void volatile** out) {
  return file_of(file)->pMethods->xShmMap(file_of(file), page, bytes, extend, out);
}
int lock_shared(sqlite3_file* file, int offset, int n, int flags) {
  return file_of(file)->pMethods->xShmLock(file_of(file), offset, n, flags);
}
void order_shared(sqlite3_file* file) { file_of(file)->pMethods->xShmBarrier(file_of(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return file_of(file)->pMethods->xShmUnmap(file_of(file), remove);
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods = {};
  methods.iVersion = 2;  // nothing is mapped
  methods.xClose = close;
  methods.xRead = read;
  methods.xWrite = write;
  methods.xTruncate = truncate;
  methods.xSync = sync;
  methods.xFileSize = file_size;
  methods.xLock = lock;
  methods.xUnlock = unlock;
  methods.xCheckReservedLock = check_reserved_lock;
  methods.xFileControl = file_control;
  methods.xSectorSize = sector_size;
  methods.xDeviceCharacteristics = characteristics;
  methods.xShmMap = map_shared;
  methods.xShmLock = lock_shared;
  methods.xShmBarrier = order_shared;
  methods.xShmUnmap = unmap_shared;
  return methods;
}();

sqlite3_vfs* g_default = nullptr;

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (file_fails()) return SQLITE_CANTOPEN;
  const int code = g_default->xOpen(g_default, name, file_of(file), flags, out_flags);
  if (code == SQLITE_OK) file->pMethods = &kMethods;
  return code;
}
int remove(sqlite3_vfs*, const char* name, int sync_folder) {
  if (file_fails()) return SQLITE_IOERR_DELETE;
  return g_default->xDelete(g_default, name, sync_folder);
}

}  // namespace

void install_failing_memory() {
  static const bool is_installed = [] {
    REQUIRE(sqlite3_shutdown() == SQLITE_OK);
    REQUIRE(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &g_memory) == SQLITE_OK);
    sqlite3_mem_methods failing = g_memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    REQUIRE(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK);
    // A connection's own little memory would not fail.
    REQUIRE(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK);
    REQUIRE(sqlite3_initialize() == SQLITE_OK);
    return true;
  }();
  REQUIRE(is_installed);
}

const char* failing_file_system() {
  static sqlite3_vfs failing = [] {
    g_default = sqlite3_vfs_find(nullptr);
    sqlite3_vfs made = *g_default;
    made.zName = "failing";
    made.szOsFile = static_cast<int>(sizeof(FailingFile)) + g_default->szOsFile;
    made.xOpen = open;
    made.xDelete = remove;
    return made;
  }();
  sqlite3_vfs_register(&failing, 0);
  return failing.zName;
}

FailingSqlite::FailingSqlite(Resource resource, int64_t first, bool onward) {
  Countdown& chosen = countdown(resource);
  chosen.left = first;
  chosen.onward = onward;
  chosen.has_failed = false;
  chosen.is_on = true;
}
void FailingSqlite::stop() {
  for (Countdown& each : g_countdowns) each.is_on = false;
}
bool FailingSqlite::has_failed() const {
  return g_countdowns[0].has_failed || g_countdowns[1].has_failed;
}

}  // namespace polarquant::test::sqlite
