// SPDX-License-Identifier: MIT
// Structs that cross the C ABI and may grow in later versions: the first field says how many bytes
// the caller's version of it has, and only bytes that both sides know are read or written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "polarquant/polarquant.h"
#include "src/codec/codec.h"

namespace polarquant::capi {

/// No struct of this ABI comes near this size; a larger struct_size is an unset field.
inline constexpr uint32_t kMaxStructBytes = 4096;

/// Checks `given` bytes against the struct's size in the first version that had it and copies what
/// both sides know into *into, whose other bytes keep their values. Bytes beyond known_bytes must
/// be 0: a later version's field that this library would silently ignore.
void read_struct(const char* name, const void* from, size_t first_bytes, void* into,
                 size_t known_bytes);
/// Copies `known_bytes` of *from to the caller's struct as far as its struct_size reaches, and
/// zeros what it has beyond; the struct_size field itself keeps the caller's value.
void write_struct(const char* name, const void* from, size_t first_bytes, void* into,
                  size_t known_bytes);
/// Fills the caller's struct of `given_bytes` with *from as far as both reach and with zeros
/// beyond, and sets its struct_size: to 0 for a size that no struct has, of which nothing else is
/// written.
void fill_struct(const void* from, size_t known_bytes, void* into, size_t given_bytes);

/// A struct with its size, and else zeros.
template <typename Struct>
Struct sized() {
  Struct made = {};
  made.struct_size = sizeof made;
  return made;
}
/// What read_struct makes of the caller's struct over `defaults`, which NULL gives. first_bytes:
/// the struct's size in the first version that had it, which never changes (test_capi_abi.cc); only
/// polar_filter has grown since.
template <typename Struct>
Struct read_over(const Struct& defaults, const char* name, const Struct* given,
                 size_t first_bytes = sizeof(Struct)) {
  Struct read = defaults;
  if (given != nullptr) read_struct(name, given, first_bytes, &read, sizeof read);
  return read;
}
/// The same of a struct for the caller.
template <typename Struct>
void write_over(const char* name, const Struct& full, Struct* given,
                size_t first_bytes = sizeof(Struct)) {
  write_struct(name, &full, first_bytes, given, sizeof full);
}
/// Defaults for the caller; NULL is ignored.
template <typename Struct>
void fill_over(const Struct& defaults, Struct* given, size_t given_bytes) {
  fill_struct(&defaults, sizeof defaults, given, given_bytes);
}

/// The caller's options checked and merged with the defaults; NULL gives the defaults.
polar_codec_options read_codec_options(const polar_codec_options* given, int32_t dim);

}  // namespace polarquant::capi
