// SPDX-License-Identifier: MIT
// An open file that closes itself, and texts of what the system refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace polarquant {

/// Throws io: "PATH: cannot VERB it: the system's text", of this thread's last call.
[[noreturn]] void fail_by_system(const std::string& path, const char* verb);

class SystemFile {
 public:
  enum class Opening { read, lock };
  /// An existing file, to read it; or one to lock, which is made where there is none. Throws io.
  SystemFile(const std::string& path, Opening opening);
  /// Takes over what the system has opened, a descriptor or a handle. `path` is what errors call
  /// it.
  SystemFile(intptr_t handle, std::string path);
  ~SystemFile();
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  intptr_t handle() const { return handle_; }
  /// What errors call it.
  const std::string& path() const { return path_; }
  /// The size of a regular file; throws io for others.
  uint64_t bytes() const;
  /// The next bytes, up to so many, and how many they were: 0 at the end. Throws io.
  size_t read_some(void* into, size_t bytes);
  /// After what was read or written; throws io.
  void write(const void* from, size_t bytes);
  /// At the file's begin, whence the place of the next write stays where it is. Throws io.
  void write_begin(const void* from, size_t bytes);
  /// Whether nobody else has it locked; now this object has, until it is gone, or its process.
  bool lock();
  /// Waits until the disk has it; throws io.
  void sync() const;
  /// Closes it; throws io when the system then says that something could not be written.
  void close();

 private:
  std::string path_;
  intptr_t handle_;
};

}  // namespace polarquant
