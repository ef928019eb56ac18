// SPDX-License-Identifier: MIT
#include "src/io/file_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

/// A folder that may not be read can still take files: it is opened to find names in it.
#ifdef O_PATH
constexpr int kToFindIn = O_PATH;
#else
constexpr int kToFindIn = O_SEARCH;
#endif

int open_in(int folder, const std::string& name, int flags) {
  while (true) {
    const int file = ::openat(folder, name.c_str(), flags | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EINTR) return file;
  }
}

}  // namespace

FileFolder::FileFolder(const std::string& folder)
    : folder_(folder), is_readable_(::faccessat(AT_FDCWD, folder.c_str(), R_OK, AT_EACCESS) == 0) {
  handle_ = open_in(AT_FDCWD, folder, (is_readable_ ? O_RDONLY : kToFindIn) | O_DIRECTORY);
  if (handle_ < 0) fail_by_system(folder, "open");
}

FileFolder::~FileFolder() { ::close(static_cast<int>(handle_)); }

bool FileFolder::has(const std::string& name, const std::string& path) const {
  struct stat info = {};
  if (fstatat(static_cast<int>(handle_), name.c_str(), &info, 0) == 0) return true;
  if (errno != ENOENT) fail_by_system(path, "make");
  return false;
}

std::unique_ptr<SystemFile> FileFolder::make(const std::string& name,
                                             const std::string& path) const {
  const int file = open_in(static_cast<int>(handle_), name, O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0 && errno == EEXIST) return nullptr;
  if (file < 0) fail_by_system(path, "make");
  return std::make_unique<SystemFile>(file, path);
}

#ifdef O_TMPFILE
std::unique_ptr<SystemFile> FileFolder::make_unnamed(const std::string& path) const {
  // By which it gets a name later.
  if (::access("/proc/self/fd", X_OK) != 0) return nullptr;
  const int file = open_in(static_cast<int>(handle_), ".", O_WRONLY | O_TMPFILE);
  if (file >= 0) return std::make_unique<SystemFile>(file, path);
  // What file systems and kernels say that have no such files; open(2) has the first three.
  for (const int none : {EOPNOTSUPP, EISDIR, ENOENT, EINVAL, EPERM, ENOSYS})
    if (errno == none) return nullptr;
  fail_by_system(path, "make");
}

std::unique_ptr<SystemFile> FileFolder::open_unnamed(const SystemFile& file,
                                                     const std::string& path) {
  const int again = open_in(AT_FDCWD, format_text("/proc/self/fd/{}", file.handle()), O_RDONLY);
  if (again < 0) fail_by_system(path, "read");
  return std::make_unique<SystemFile>(again, path);
}

bool FileFolder::give_name(const SystemFile& file, const std::string& name,
                           const std::string& path) const {
  const std::string place = format_text("/proc/self/fd/{}", file.handle());
  if (::linkat(AT_FDCWD, place.c_str(), static_cast<int>(handle_), name.c_str(),
               AT_SYMLINK_FOLLOW) == 0)
    return true;
  if (errno != EEXIST) fail_by_system(path, "make");
  return false;
}
#else
std::unique_ptr<SystemFile> FileFolder::make_unnamed(const std::string& /*path*/) const {
  return nullptr;
}

std::unique_ptr<SystemFile> FileFolder::open_unnamed(const SystemFile& /*file*/,
                                                     const std::string& path) {
  fail(StatusCode::internal, "{}: there are no files without names", path);
}

bool FileFolder::give_name(const SystemFile& /*file*/, const std::string& /*name*/,
                           const std::string& path) const {
  fail(StatusCode::internal, "{}: there are no files without names", path);
}
#endif

std::unique_ptr<SystemFile> FileFolder::open(const std::string& name,
                                             const std::string& path) const {
  const int file = open_in(static_cast<int>(handle_), name, O_RDONLY);
  if (file < 0) fail_by_system(path, "read");
  return std::make_unique<SystemFile>(file, path);
}

void FileFolder::copy_rights(const std::string& name, const SystemFile& to) const noexcept {
  struct stat info = {};
  if (fstatat(static_cast<int>(handle_), name.c_str(), &info, 0) != 0) return;
  static_cast<void>(fchmod(static_cast<int>(to.handle()), info.st_mode & 07777));
}

void FileFolder::replace(const std::string& from, const std::string& to,
                         const std::string& path) const {
  const int folder = static_cast<int>(handle_);
  if (::renameat(folder, from.c_str(), folder, to.c_str()) != 0) fail_by_system(path, "replace");
}

void FileFolder::remove(const std::string& name) const noexcept {
  ::unlinkat(static_cast<int>(handle_), name.c_str(), 0);
}

void FileFolder::sync(const std::string& path) const {
  if (!is_readable_) return;
  while (fsync(static_cast<int>(handle_)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP) return;
    const std::string reason = platform::system_error_text();
    fail(StatusCode::io,
         "{}: the new file is in place, but its folder cannot be synced: {}; after a crash of the "
         "system the old one may be there",
         path, reason);
  }
}

}  // namespace polarquant
