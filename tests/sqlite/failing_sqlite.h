// SPDX-License-Identifier: MIT
// SQLite's memory and files, which fail when they are told to.
#pragma once

#include <cstdint>

namespace polarquant::test::sqlite {

enum class Resource {
  memory,  // every request of SQLite's
  files    // every read, write, sync, open, deletion and change of size
};

/// Makes SQLite's memory fail-able, for the process. Before anything else of SQLite.
void install_failing_memory();
/// The name of a file system that fails; the default one otherwise.
const char* failing_file_system();

/// While it lives, uses of the resource fail from the `first` on, 0 the next: that one alone, or
/// all that follow.
class FailingSqlite {
 public:
  FailingSqlite(Resource resource, int64_t first, bool onward);
  ~FailingSqlite() { stop(); }
  FailingSqlite(const FailingSqlite&) = delete;
  FailingSqlite& operator=(const FailingSqlite&) = delete;

  void stop();
  bool has_failed() const;
};

}  // namespace polarquant::test::sqlite
