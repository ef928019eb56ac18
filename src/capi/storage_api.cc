// SPDX-License-Identifier: MIT
// The index calls of the C ABI that save, load, verify, clone and count.
#include <memory>
#include <utility>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/file_options.h"
#include "src/capi/held_ids.h"
#include "src/capi/index_handle.h"
#include "src/capi/stored_handle.h"
#include "src/faiss/files/index_files.h"
#include "src/faiss/index/index_parts.h"

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_index_save(const polar_index* index, const char* path,
                                         const polar_save_options* options) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    const polar_save_options read = read_save_options(options);
    CheckFile check;
    if (read.verify == 1) {
      check = [&](SectionReader file) {
        require_same_rows(*checked.faiss, *read_handle(std::move(file), true)->faiss);
      };
    }
    write_file(sections_of(checked), require_path("path", path), check);
  });
}

extern "C" polar_status polar_index_save_to(const polar_index* index, polar_write_fn write,
                                            void* user, const polar_save_options* options) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require(read_save_options(options).verify == 0, StatusCode::bad_argument,
            "options.verify: only files can be read back; 0 is allowed here");
    require(write != nullptr, StatusCode::bad_argument, "write: NULL is not allowed");
    write_file(sections_of(checked), WriteBytes([&](const void* data, size_t bytes) {
                 const int32_t answer = write(user, data, bytes);
                 require(answer == 0, StatusCode::io, "write: it returned {} for {} bytes", answer,
                         bytes);
               }));
  });
}

extern "C" polar_status polar_index_load(const char* path, const polar_load_options* options,
                                         polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const polar_load_options read = read_load_options(options);
    *out = read_handle(open_file(require_path("path", path), read.memory_map == 1),
                       read.trust_faiss == 1)
               .release();
  });
}

extern "C" polar_status polar_index_load_from(polar_read_fn read, void* user,
                                              const polar_load_options* options,
                                              polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    require(read != nullptr, StatusCode::bad_argument, "read: NULL is not allowed");
    const polar_load_options checked = read_load_options(options);
    require(checked.memory_map == 0, StatusCode::bad_argument,
            "options.memory_map: only files can be mapped; 0 is allowed here");
    auto source = callback_source([&](void* data, size_t bytes) {
      const int64_t count = read(user, data, bytes);
      require(count >= 0, StatusCode::io, "read: it returned {} for {} bytes", count, bytes);
      return static_cast<size_t>(count);
    });
    *out = read_handle(SectionReader(std::move(source)), checked.trust_faiss == 1).release();
  });
}

extern "C" polar_status polar_index_verify(const polar_index* index) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    verify_index(*checked.faiss);
    checked.ids.verify();
  });
}

extern "C" polar_status polar_index_clone(const polar_index* index, polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("out", out);
    auto clone = std::make_unique<polar_index>();
    clone->description = checked.description;
    clone->dim = checked.dim;
    clone->metric = checked.metric;
    clone->row_ids = checked.row_ids;
    clone->faiss = clone_index(*checked.faiss, IdsOfClone::kept);
    if (lists_with_ids(*clone) == nullptr) clone->ids = checked.ids.in_memory();
    *out = clone.release();
  });
}

extern "C" polar_status polar_index_memory_bytes(const polar_index* index, size_t* bytes) {
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("bytes", bytes) =
        index_memory_bytes(*checked.faiss) + checked.ids.memory_bytes();
  });
}
