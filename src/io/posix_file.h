// SPDX-License-Identifier: MIT
// An open file that closes itself, and texts of what the system refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace polarquant {

/// Throws io: "PATH: cannot VERB it: the system's text".
[[noreturn]] void fail_with_errno(const std::string& path, const char* verb);

class PosixFile {
 public:
  /// As open(2); throws io.
  PosixFile(const std::string& path, int flags, const char* verb, int mode = 0);
  /// As openat(2): `name` in the folder of a descriptor. `path` is what errors call it.
  PosixFile(int folder, const std::string& name, const std::string& path, int flags,
            const char* verb, int mode = 0);
  ~PosixFile();
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// What errors call it.
  const std::string& path() const { return path_; }
  /// The size of a regular file; throws io for others.
  uint64_t bytes() const;
  /// Waits until the disk has it; throws io.
  void sync() const;
  /// Closes it; throws io when the system then says that something could not be written.
  void close();

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace polarquant
