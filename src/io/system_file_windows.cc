// SPDX-License-Identifier: MIT
#include <windows.h>

#include <algorithm>

#include "src/core/status.h"
#include "src/io/system_file.h"
#include "src/io/windows_path.h"

namespace polarquant {
namespace {

HANDLE handle_of(const SystemFile& file) { return reinterpret_cast<HANDLE>(file.handle()); }

/// The system reads and writes no more than 4 GiB at once.
DWORD at_once(size_t bytes) { return static_cast<DWORD>(std::min(bytes, size_t{1} << 30)); }

intptr_t open_file(const std::string& path, SystemFile::Opening opening) {
  const bool reads = opening == SystemFile::Opening::read;
  // Others may do what they could on POSIX systems, as removing or replacing it.
  constexpr DWORD kSharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE file = CreateFileW(
      windows_path(path).c_str(), reads ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE, kSharing,
      nullptr, reads ? OPEN_EXISTING : OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    // Windows says of a folder that access is denied.
    const DWORD why = GetLastError();
    const DWORD attributes = GetFileAttributesW(windows_path(path).c_str());
    require(attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0,
            StatusCode::io, "{}: is not a regular file", path);
    SetLastError(why);
    fail_by_system(path, reads ? "open" : "make");
  }
  return reinterpret_cast<intptr_t>(file);
}

const auto kClosed = reinterpret_cast<intptr_t>(INVALID_HANDLE_VALUE);

}  // namespace

SystemFile::SystemFile(const std::string& path, Opening opening)
    : SystemFile(open_file(path, opening), path) {}

SystemFile::~SystemFile() {
  if (handle_ != kClosed) CloseHandle(handle_of(*this));
}

uint64_t SystemFile::bytes() const {
  require(GetFileType(handle_of(*this)) == FILE_TYPE_DISK, StatusCode::io,
          "{}: is not a regular file", path_);
  LARGE_INTEGER bytes = {};
  if (GetFileSizeEx(handle_of(*this), &bytes) == 0) fail_by_system(path_, "look at");
  return static_cast<uint64_t>(bytes.QuadPart);
}

size_t SystemFile::read_some(void* into, size_t bytes) {
  DWORD count = 0;
  if (ReadFile(handle_of(*this), into, at_once(bytes), &count, nullptr) == 0)
    fail_by_system(path_, "read");
  return count;
}

void SystemFile::write(const void* from, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(from);
  while (bytes > 0) {
    DWORD count = 0;
    if (WriteFile(handle_of(*this), at, at_once(bytes), &count, nullptr) == 0)
      fail_by_system(path_, "write");
    at += count;
    bytes -= count;
  }
}

void SystemFile::write_begin(const void* from, size_t bytes) {
  LARGE_INTEGER place = {};
  const LARGE_INTEGER begin = {};
  if (SetFilePointerEx(handle_of(*this), begin, &place, FILE_CURRENT) == 0 ||
      SetFilePointerEx(handle_of(*this), begin, nullptr, FILE_BEGIN) == 0) {
    fail_by_system(path_, "write");
  }
  write(from, bytes);
  if (SetFilePointerEx(handle_of(*this), place, nullptr, FILE_BEGIN) == 0)
    fail_by_system(path_, "write");
}

bool SystemFile::lock() {
  OVERLAPPED begin = {};
  return LockFileEx(handle_of(*this), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                    &begin) != 0;
}

void SystemFile::sync() const {
  if (FlushFileBuffers(handle_of(*this)) == 0) fail_by_system(path_, "sync");
}

void SystemFile::close() {
  const HANDLE file = handle_of(*this);
  handle_ = kClosed;
  if (CloseHandle(file) == 0) fail_by_system(path_, "close");
}

}  // namespace polarquant
