// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/core/status.h"
#include "src/io/system_file.h"

namespace polarquant {
namespace {

constexpr int kClosed = -1;

int descriptor(const SystemFile& file) { return static_cast<int>(file.handle()); }

int open_file(const std::string& path, SystemFile::Opening opening) {
  const bool reads = opening == SystemFile::Opening::read;
  const int flags = O_CLOEXEC | (reads ? O_RDONLY : O_RDWR | O_CREAT);
  while (true) {
    const int file = ::open(path.c_str(), flags, 0666);
    if (file >= 0) return file;
    if (errno != EINTR) fail_by_system(path, reads ? "open" : "make");
  }
}

/// All of them, by calls of `write_some`(from, count, done), as write(2).
template <typename WriteSome>
void write_all(const std::string& path, const void* data, size_t bytes,
               const WriteSome& write_some) {
  const auto* from = static_cast<const unsigned char*>(data);
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = write_some(from + done, bytes - done, done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_by_system(path, "write");
    done += static_cast<size_t>(count);
  }
}

}  // namespace

SystemFile::SystemFile(const std::string& path, Opening opening)
    : SystemFile(open_file(path, opening), path) {}

SystemFile::~SystemFile() {
  if (handle_ != kClosed) ::close(descriptor(*this));
}

uint64_t SystemFile::bytes() const {
  struct stat info = {};
  if (fstat(descriptor(*this), &info) != 0) fail_by_system(path_, "look at");
  require(S_ISREG(info.st_mode), StatusCode::io, "{}: is not a regular file", path_);
  return static_cast<uint64_t>(info.st_size);
}

size_t SystemFile::read_some(void* into, size_t bytes) {
  while (true) {
    const ssize_t count = ::read(descriptor(*this), into, bytes);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) fail_by_system(path_, "read");
  }
}

void SystemFile::write(const void* from, size_t bytes) {
  write_all(path_, from, bytes, [&](const unsigned char* at, size_t count, size_t) {
    return ::write(descriptor(*this), at, count);
  });
}

void SystemFile::write_begin(const void* from, size_t bytes) {
  write_all(path_, from, bytes, [&](const unsigned char* at, size_t count, size_t done) {
    return ::pwrite(descriptor(*this), at, count, static_cast<off_t>(done));
  });
}

bool SystemFile::lock() { return flock(descriptor(*this), LOCK_EX | LOCK_NB) == 0; }

void SystemFile::sync() const {
#ifdef F_FULLFSYNC
  // On macOS fsync leaves bytes in the disk's own memory. Not every file system there has the
  // other.
  if (fcntl(descriptor(*this), F_FULLFSYNC) == 0) return;
#endif
  while (fsync(descriptor(*this)) != 0) {
    if (errno != EINTR) fail_by_system(path_, "sync");
  }
}

void SystemFile::close() {
  const int file = descriptor(*this);
  handle_ = kClosed;
  // A close that a signal interrupts has closed the file; a second one could close another.
  if (::close(file) != 0 && errno != EINTR) fail_by_system(path_, "close");
}

}  // namespace polarquant
