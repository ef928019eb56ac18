// SPDX-License-Identifier: MIT
#include "src/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kNameAttempts = 100;

/// The file behind symbolic links; `path` itself where there is none yet.
std::string resolved(const std::string& path) {
  require(!path.empty(), StatusCode::io, "path: \"\" is not allowed; a file's name is");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const bool exists = std::filesystem::exists(status);
  require(!exists || std::filesystem::is_regular_file(status), StatusCode::io,
          "{}: is not a regular file; a file's name is allowed", path);
  if (!exists) return path;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  return error ? path : canonical.string();
}

/// The folder of a path, "." where it names none.
std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Unlike any other of this process, and, by its number, of others.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(resolved(path)) {
  buffer_.reserve(kBufferBytes);
  for (int attempt = 0; file_ == nullptr; ++attempt) {
    temporary_ = temporary_name(path_);
    try {
      file_ = std::make_unique<PosixFile>(temporary_, O_WRONLY | O_CREAT | O_EXCL, "make", 0666);
    } catch (const Error&) {
      // One that a process of this number left behind when it was stopped.
      std::error_code ignored;
      if (!std::filesystem::exists(temporary_, ignored) || attempt == kNameAttempts) throw;
    }
  }
  struct stat old = {};
  // A new file has the rights of the old one where the system allows it.
  if (stat(path_.c_str(), &old) == 0) {
    static_cast<void>(fchmod(file_->descriptor(), old.st_mode & 07777));
  }
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  file_.reset();
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  while (bytes > 0) {
    const size_t count = std::min(bytes, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + count);
    if (buffer_.size() == kBufferBytes) flush();
    from += count;
    bytes -= count;
  }
}

void AtomicFile::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t count =
        ::write(file_->descriptor(), buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(temporary_, "write");
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (fsync(file_->descriptor()) != 0) fail_with_errno(temporary_, "sync");
  file_->close();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno(path_, "replace");
  committed_ = true;
  // The name is on the disk when its folder is.
  const std::string folder = folder_of(path_);
  const PosixFile open_folder(folder, O_RDONLY | O_DIRECTORY, "open");
  if (fsync(open_folder.descriptor()) != 0 && errno != EINVAL) fail_with_errno(folder, "sync");
}

}  // namespace polarquant
