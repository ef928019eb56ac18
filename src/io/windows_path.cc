// SPDX-License-Identifier: MIT
#include "src/io/windows_path.h"

#include <windows.h>

#include "src/core/platform/platform.h"
#include "src/io/system_file.h"

namespace polarquant {

std::wstring windows_path(const std::string& path) {
  const std::wstring plain = platform::path_of(path).native();
  // Folders have twelve characters less, for a short name inside.
  constexpr size_t kLongest = MAX_PATH - 13;
  if (plain.size() <= kLongest || plain.starts_with(LR"(\\?\)")) return plain;
  const DWORD length = GetFullPathNameW(plain.c_str(), 0, nullptr, nullptr);
  std::wstring full(length, L'\0');
  const DWORD written = GetFullPathNameW(plain.c_str(), length, full.data(), nullptr);
  if (length == 0 || written == 0 || written >= length) fail_by_system(path, "find");
  full.resize(written);
  if (full.starts_with(LR"(\\)")) return LR"(\\?\UNC)" + full.substr(1);
  return LR"(\\?\)" + full;
}

}  // namespace polarquant
