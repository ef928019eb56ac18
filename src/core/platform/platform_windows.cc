// SPDX-License-Identifier: MIT
// Windows, from version 10 on. Its functions for text take UTF-16.
#include <windows.h>

// After windows.h, which it needs.
#include <psapi.h>

#include <random>
#include <system_error>

#include "src/core/platform/platform.h"
#include "src/core/status.h"

namespace polarquant::platform {
namespace {

std::string utf8_of(const wchar_t* text, int length) {
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, length, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, length, out.data(), bytes, nullptr, nullptr);
  return out;
}

/// The library or program that has this function; null where that is not known.
HMODULE module_of(const void* function, DWORD flags) noexcept {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | flags,
                     static_cast<const wchar_t*>(function), &module);
  return module;
}

}  // namespace

bool on_fork_in_child(void (* /*handler*/)()) noexcept { return true; }

// Large pages are for those with a right that few have.
void ask_for_huge_pages(void* /*memory*/, size_t /*bytes*/) noexcept {}

bool return_free_memory() noexcept { return false; }

bool permits_amx_tiles() noexcept { return false; }

std::optional<long> page_waits() noexcept {
  PROCESS_MEMORY_COUNTERS counters = {};
  if (K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) == 0)
    return std::nullopt;
  return static_cast<long>(counters.PageFaultCount);
}

// rand_s in both standard libraries: no file.
uint64_t random_number() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::string system_error_text() {
  const DWORD code = GetLastError();
  wchar_t text[512];
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                code, 0, text, 512, nullptr);
  // It ends with a full stop and a new line.
  while (length > 0 && (text[length - 1] <= L' ' || text[length - 1] == L'.')) --length;
  if (length == 0) return format_text("error {} of Windows", code);
  return utf8_of(text, static_cast<int>(length));
}

std::filesystem::path path_of(const std::string& name) {
  if (name.empty()) return {};
  const int bytes = static_cast<int>(name.size());
  const int length =
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name.data(), bytes, nullptr, 0);
  require(length > 0, StatusCode::io, "path: it is no UTF-8, which names of files have");
  std::wstring wide(static_cast<size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name.data(), bytes, wide.data(), length);
  return wide;
}

std::string name_of(const std::filesystem::path& path) {
  const std::wstring& wide = path.native();
  return wide.empty() ? "" : utf8_of(wide.data(), static_cast<int>(wide.size()));
}

const bool kEndingThreadsMayWait = false;

void keep_library_loaded() noexcept {
  module_of(reinterpret_cast<const void*>(&keep_library_loaded), GET_MODULE_HANDLE_EX_FLAG_PIN);
}

void* open_library(const std::string& name, std::string* error) {
  const std::filesystem::path path = path_of(name);
  // What it needs lies beside it, where its place is known.
  const DWORD flags =
      path.is_absolute() ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS : 0;
  const HMODULE library = LoadLibraryExW(path.c_str(), nullptr, flags);
  if (library == nullptr) *error = name + ": " + system_error_text();
  return library;
}

void* find_function(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void close_library(void* library) noexcept { FreeLibrary(static_cast<HMODULE>(library)); }

std::string library_file(const std::string& name) { return name + ".dll"; }

std::string folder_of_code(const void* function) {
  const HMODULE module = module_of(function, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
  // The longest path that there can be.
  std::wstring path(32768, L'\0');
  const DWORD length = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
  if (module == nullptr || length == 0 || length == path.size()) return "";
  path.resize(length);
  path.resize(path.rfind(L'\\') + 1);
  return name_of(path);
}

}  // namespace polarquant::platform
