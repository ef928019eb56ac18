// SPDX-License-Identifier: MIT
#include "src/io/posix_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "src/core/status.h"

namespace polarquant {

void fail_with_errno(const std::string& path, const char* verb) {
  const std::string reason = std::generic_category().message(errno);
  fail(StatusCode::io, "{}: cannot {} it: {}", path, verb, reason);
}

PosixFile::PosixFile(const std::string& path, int flags, const char* verb, int mode)
    : PosixFile(AT_FDCWD, path, path, flags, verb, mode) {}

PosixFile::PosixFile(int folder, const std::string& name, const std::string& path, int flags,
                     const char* verb, int mode)
    : path_(path) {
  do {
    descriptor_ = ::openat(folder, name.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail_with_errno(path, verb);
}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

uint64_t PosixFile::bytes() const {
  struct stat info = {};
  if (fstat(descriptor_, &info) != 0) fail_with_errno(path_, "look at");
  require(S_ISREG(info.st_mode), StatusCode::io, "{}: is not a regular file", path_);
  return static_cast<uint64_t>(info.st_size);
}

void PosixFile::sync() const {
  while (fsync(descriptor_) != 0) {
    if (errno != EINTR) fail_with_errno(path_, "sync");
  }
}

void PosixFile::close() {
  // A close that a signal interrupts has closed the file; a second one could close another.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    fail_with_errno(path_, "close");
  }
}

}  // namespace polarquant
