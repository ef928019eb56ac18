// SPDX-License-Identifier: MIT
// Linux and macOS.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "src/core/platform/platform.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace polarquant::platform {

bool on_fork_in_child(void (*handler)()) noexcept {
  return pthread_atfork(nullptr, nullptr, handler) == 0;
}

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) noexcept {
#ifdef __linux__
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
}

bool return_free_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
  return true;
#else
  return false;
#endif
}

bool permits_amx_tiles() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  // Linux, Documentation/arch/x86/xstate.rst.
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

std::optional<long> page_waits() noexcept {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  return usage.ru_majflt;
}

uint64_t random_number() {
  uint64_t number = 0;
  if (getentropy(&number, sizeof number) == 0) return number;
  std::random_device device;  // Linux before 3.17
  return uint64_t{device()} << 32 | device();
}

std::string system_error_text() { return std::generic_category().message(errno); }

std::filesystem::path path_of(const std::string& name) { return name; }
std::string name_of(const std::filesystem::path& path) { return path.string(); }

const bool kEndingThreadsMayWait = true;
void keep_library_loaded() noexcept {}

void* open_library(const std::string& name, std::string* error) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const text = dlerror();
    *error = text != nullptr ? text : "";
  }
  return library;
}

void* find_function(void* library, const char* name) noexcept { return dlsym(library, name); }

void close_library(void* library) noexcept { dlclose(library); }

std::string library_file(const std::string& name) {
#ifdef __APPLE__
  return "lib" + name + ".0.dylib";
#else
  return "lib" + name + ".so.0";
#endif
}

std::string folder_of_code(const void* function) {
  Dl_info info;
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace polarquant::platform
