// SPDX-License-Identifier: MIT
// The calls of the C ABI that merge index files, and build them in parts.
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/file_options.h"
#include "src/capi/index_builder.h"
#include "src/capi/joined_files.h"
#include "src/capi/work_call.h"

struct polar_builder {
  polarquant::capi::IndexBuilder builder;
};

namespace polarquant::capi {
namespace {

/// (n), n ≥ 1; copied, so that the caller's may go.
std::vector<std::string> read_paths(int64_t n, const char* const* paths) {
  require_count("n", n, 1);
  require_array("paths", paths, n, 1, sizeof(char*));
  std::vector<std::string> read;
  for (int64_t i = 0; i < n; ++i) read.emplace_back(require_path("paths", paths[i]));
  return read;
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" polar_status polar_merge_files(int64_t n, const char* const* paths, const char* out,
                                          const polar_work_options* options) {
  return run_work("merge", options, [&] {
    const std::vector<std::string> read = read_paths(n, paths);
    const std::string written = require_path("out", out);
    JoinedFiles files(JoinedFiles::Use::writing);
    for (const std::string& path : read) {
      poll_work();
      files.add(path);
    }
    files.write(written);
  });
}

extern "C" polar_status polar_index_open_shards(int64_t n, const char* const* paths,
                                                polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    const std::vector<std::string> read = read_paths(n, paths);
    require_object("out", out);
    JoinedFiles files(JoinedFiles::Use::searching);
    for (const std::string& path : read) files.add(path);
    *out = files.take_index().release();
  });
}

extern "C" polar_status polar_index_load_empty(const char* path, polar_index** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    *out = load_without_rows(require_path("path", path)).release();
  });
}

extern "C" polar_status polar_builder_create(const polar_index* index, const char* path,
                                             const polar_builder_options* options,
                                             polar_builder** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    const polar_index& checked = require_object("index", index);
    const Reading reading(checked.use);
    require_object("out", out);
    const polar_builder_options read = read_builder_options(options);
    *out = new polar_builder{{checked, require_path("path", path), read.replace == 1,
                              static_cast<size_t>(read.memory_bytes)}};
  });
}

extern "C" polar_status polar_builder_resume(const char* path, const polar_builder_options* options,
                                             polar_builder** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    const polar_builder_options read = read_builder_options(options);
    *out = new polar_builder{{require_path("path", path), static_cast<size_t>(read.memory_bytes)}};
  });
}

extern "C" void polar_builder_destroy(polar_builder* builder) { delete builder; }

extern "C" polar_status polar_builder_add(polar_builder* builder, int64_t n, const float* x,
                                          const polar_work_options* options) {
  return run_work("add", options,
                  [&] { require_object("builder", builder).builder.add(n, x, nullptr); });
}

extern "C" polar_status polar_builder_add_with_ids(polar_builder* builder, int64_t n,
                                                   const float* x, const int64_t* ids,
                                                   const polar_work_options* options) {
  return run_work("add", options, [&] {
    IndexBuilder& checked = require_object("builder", builder).builder;
    require_count("n", n, 0);
    require_array("ids", ids, n, 1, sizeof(int64_t));
    if (n > 0) checked.add(n, x, ids);
  });
}

extern "C" polar_status polar_builder_write_part(polar_builder* builder) {
  return run_guarded([&] { require_object("builder", builder).builder.write_part(); });
}

extern "C" polar_status polar_builder_finish(polar_builder* builder,
                                             const polar_work_options* options) {
  return run_work("finish", options, [&] { require_object("builder", builder).builder.finish(); });
}

extern "C" int32_t polar_builder_dim(const polar_builder* builder) {
  return builder != nullptr ? builder->builder.dim() : 0;
}

extern "C" int64_t polar_builder_ntotal(const polar_builder* builder) {
  return builder != nullptr ? builder->builder.ntotal() : 0;
}

extern "C" int64_t polar_builder_written(const polar_builder* builder) {
  return builder != nullptr ? builder->builder.written() : 0;
}
