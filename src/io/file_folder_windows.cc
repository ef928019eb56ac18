// SPDX-License-Identifier: MIT
#include "src/io/file_folder.h"

#include <windows.h>

#include "src/core/status.h"
#include "src/io/windows_path.h"

namespace polarquant {
namespace {

std::wstring path_in(const std::string& folder, const std::string& name) {
  const char last = folder.empty() ? '/' : folder.back();
  const bool ends = last == '/' || last == '\\' || last == ':';
  return windows_path(folder + (ends ? "" : "\\") + name);
}

std::unique_ptr<SystemFile> taken_over(HANDLE file, const std::string& path, const char* verb) {
  if (file == INVALID_HANDLE_VALUE) fail_by_system(path, verb);
  return std::make_unique<SystemFile>(reinterpret_cast<intptr_t>(file), path);
}

}  // namespace

FileFolder::FileFolder(const std::string& folder) : folder_(folder) {
  const std::wstring path = windows_path(folder);
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) fail_by_system(folder, "open");
  require((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0, StatusCode::io, "{}: it is no folder",
          folder);
  // Nobody can rename it meanwhile.
  const HANDLE held = CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (held == INVALID_HANDLE_VALUE) fail_by_system(folder, "open");
  handle_ = reinterpret_cast<intptr_t>(held);
}

FileFolder::~FileFolder() { CloseHandle(reinterpret_cast<HANDLE>(handle_)); }

bool FileFolder::has(const std::string& name, const std::string& path) const {
  const DWORD attributes = GetFileAttributesW(path_in(folder_, name).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    if (GetLastError() != ERROR_FILE_NOT_FOUND) fail_by_system(path, "make");
    return false;
  }
  require((attributes & FILE_ATTRIBUTE_READONLY) == 0, StatusCode::io,
          "{}: cannot replace it: it is read-only", path);
  return true;
}

std::unique_ptr<SystemFile> FileFolder::make(const std::string& name,
                                             const std::string& path) const {
  const HANDLE file = CreateFileW(path_in(folder_, name).c_str(), GENERIC_WRITE, FILE_SHARE_READ,
                                  nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS) return nullptr;
  return taken_over(file, path, "make");
}

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

std::unique_ptr<SystemFile> FileFolder::open(const std::string& name,
                                             const std::string& path) const {
  const HANDLE file = CreateFileW(path_in(folder_, name).c_str(), GENERIC_READ, FILE_SHARE_READ,
                                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  return taken_over(file, path, "read");
}

// A new file has the rights that its folder gives.
void FileFolder::copy_rights(const std::string& /*name*/, const SystemFile& /*to*/) const noexcept {
}

// One step of the file system. ReplaceFile, which would keep the old file's rights, takes three,
// and a process that ends between them leaves no file of the name.
void FileFolder::replace(const std::string& from, const std::string& to,
                         const std::string& path) const {
  const std::wstring old_path = path_in(folder_, from);
  const std::wstring new_path = path_in(folder_, to);
  // Whoever looks at the file for a moment, as scanners do, or replaces it at the same time, keeps
  // it from being replaced.
  constexpr int kAttempts = 100;
  constexpr DWORD kPause = 10;  // milliseconds
  for (int attempt = 1;; ++attempt) {
    if (MoveFileExW(old_path.c_str(), new_path.c_str(),
                    MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0) {
      return;
    }
    const DWORD error = GetLastError();
    const bool may_pass = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
    if (!may_pass || attempt == kAttempts) fail_by_system(path, "replace");
    Sleep(kPause);
  }
}

void FileFolder::remove(const std::string& name) const noexcept {
  try {
    DeleteFileW(path_in(folder_, name).c_str());
  } catch (...) {
    // No memory for the name: the file stays.
  }
}

// replace() has waited for the disk.
void FileFolder::sync(const std::string& /*path*/) const {}

}  // namespace polarquant
