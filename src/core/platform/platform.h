// SPDX-License-Identifier: MIT
// What differs between operating systems, as plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace polarquant::platform {

/// Calls `handler` in every child that is fork()ed from now on. False where the system refuses: the
/// caller then never learns of a fork. True, and nothing to do, where there is no fork().
bool on_fork_in_child(void (*handler)()) noexcept;

/// Only a request: where the system refuses it, or has none, pages stay small.
void ask_for_huge_pages(void* memory, size_t bytes) noexcept;

/// Gives memory that was freed between what is in use back to the system, whole pages of it, as far
/// as the C library can; false where it cannot. Reads all that the process has freed.
bool return_free_memory() noexcept;

/// Asks the system for the tile registers of x86-64 (AMX), for all threads of the process.
bool permits_amx_tiles() noexcept;

/// How often this process has waited for a page of a mapped file; nullopt where that is not known.
/// Windows counts pages that were in memory too.
std::optional<long> page_waits() noexcept;

/// Another number in every call and process, from the system. It opens no file where the system
/// can do without: std::random_device may, and so fails when there are too many.
uint64_t random_number();

/// Why the system refused the last call of this thread. UTF-8.
std::string system_error_text();

/// The path of a name in UTF-8, which the C ABI has everywhere; on POSIX systems any bytes.
std::filesystem::path path_of(const std::string& name);
/// And back.
std::string name_of(const std::filesystem::path& path);

/// Whether a thread that ends may wait in destructors of its thread_local objects for another one
/// to end. On Windows both need the lock of the loader.
extern const bool kEndingThreadsMayWait;
/// Where they may not: this library stays in memory, so that no thread's code goes.
void keep_library_loaded() noexcept;

/// A shared library, by its path or by a name that the system looks for. Null with the reason in
/// `error` where there is none.
void* open_library(const std::string& name, std::string* error);
/// Null where the library has no such function.
void* find_function(void* library, const char* name) noexcept;
void close_library(void* library) noexcept;
/// "libNAME.so.0", "libNAME.0.dylib" or "NAME.dll".
std::string library_file(const std::string& name);
/// The folder, with the separator at its end, of the library or program that has this function; ""
/// where that is not known.
std::string folder_of_code(const void* function);

}  // namespace polarquant::platform
