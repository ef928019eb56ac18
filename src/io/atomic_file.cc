// SPDX-License-Identifier: MIT
#include "src/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>

#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kNameAttempts = 100;
constexpr int kMaxLinks = 40;  // as Linux

/// The file that symbolic links lead to, which need not exist yet.
std::filesystem::path follow_links(const std::string& path) {
  std::filesystem::path found = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(found, error); ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(found, error);
    require(!error && links < kMaxLinks, StatusCode::io, "{}: cannot follow its links", path);
    found = found.parent_path() / target;
  }
  return found;
}

void require_file_name(const std::string& path) {
  require(!path.empty(), StatusCode::io, "path: \"\" is not allowed; a file's name is");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  require(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status),
          StatusCode::io, "{}: is not a regular file; a file's name is allowed", path);
}

/// Short, so that a name is allowed wherever any is. Random, since process numbers are the same in
/// containers that share a folder.
std::string temporary_name() {
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  return format_text(".polar-{:016x}", number);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  require_file_name(path);
  const std::filesystem::path place = follow_links(path);
  name_ = place.filename().string();
  const std::string folder =
      place.has_parent_path() ? place.parent_path().string() : std::string(".");
  // A folder that may not be read can still take files.
  folder_is_readable_ = ::faccessat(AT_FDCWD, folder.c_str(), R_OK, AT_EACCESS) == 0;
  const int flags = folder_is_readable_ ? O_RDONLY : O_PATH;
  folder_ = std::make_unique<PosixFile>(folder, flags | O_DIRECTORY, "open");
  struct stat old = {};
  const bool has_old = fstatat(folder_->descriptor(), name_.c_str(), &old, 0) == 0;
  // Refused now and not when all is written.
  if (!has_old && errno != ENOENT) fail_with_errno(path_, "make");
  buffer_.reserve(kBufferBytes);
  make_temporary();  // last: where a constructor throws, no destructor removes it
  // A new file gets the rights of the old one where the system allows it.
  if (has_old) static_cast<void>(fchmod(file_->descriptor(), old.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  file_.reset();
  ::unlinkat(folder_->descriptor(), temporary_.c_str(), 0);
}

void AtomicFile::make_temporary() {
  for (int attempt = 0; file_ == nullptr; ++attempt) {
    temporary_ = temporary_name();
    try {
      file_ = std::make_unique<PosixFile>(folder_->descriptor(), temporary_, path_,
                                          O_WRONLY | O_CREAT | O_EXCL, "make", 0666);
    } catch (const Error&) {
      struct stat other = {};
      const bool is_taken = fstatat(folder_->descriptor(), temporary_.c_str(), &other, 0) == 0;
      if (!is_taken || attempt == kNameAttempts) throw;
    }
  }
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

template <typename WriteSome>
void AtomicFile::write_all(const unsigned char* from, size_t bytes, const WriteSome& write_some) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = write_some(from + done, bytes - done, done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(path_, "write");
    done += static_cast<size_t>(count);
  }
}

void AtomicFile::flush() {
  write_all(buffer_.data(), buffer_.size(), [&](const unsigned char* from, size_t count, size_t) {
    return ::write(file_->descriptor(), from, count);
  });
  buffer_.clear();
}

void AtomicFile::overwrite_begin(const void* data, size_t bytes) {
  flush();
  write_all(static_cast<const unsigned char*>(data), bytes,
            [&](const unsigned char* from, size_t count, size_t done) {
              return ::pwrite(file_->descriptor(), from, count, static_cast<off_t>(done));
            });
}

void AtomicFile::commit(const Check& check) {
  flush();
  file_->sync();
  file_->close();
  if (check) {
    check(file_source(
        std::make_unique<PosixFile>(folder_->descriptor(), temporary_, path_, O_RDONLY, "read")));
  }
  const int folder = folder_->descriptor();
  if (::renameat(folder, temporary_.c_str(), folder, name_.c_str()) != 0) {
    fail_with_errno(path_, "replace");
  }
  committed_ = true;
  sync_folder();
}

void AtomicFile::sync_folder() const {
  // The name is on the disk once its folder is, where the system can sync folders.
  if (!folder_is_readable_) return;
  while (fsync(folder_->descriptor()) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP) return;
    const std::string reason = std::generic_category().message(errno);
    fail(StatusCode::io,
         "{}: the new file is in place, but its folder cannot be synced: {}; after a crash of the "
         "system the old one may be there",
         path_, reason);
  }
}

}  // namespace polarquant
