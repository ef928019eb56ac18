// SPDX-License-Identifier: MIT
// Index files written as one: they are mapped, and read through list by list, so that memory does
// not grow with their rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/capi/caller_ids.h"
#include "src/capi/index_handle.h"
#include "src/io/mapped_file.h"

namespace polarquant::capi {

class JoinedFiles {
 public:
  /// The file's rows come after those of the files before. Errors begin with the path.
  void add(const std::string& path);
  /// At least one file was added. Tells the thread's work how far it is.
  void write(const std::string& path) const;

 private:
  void release_pages() const;

  std::unique_ptr<polar_index> joined_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<CallerIds> ids_;  // of the files that have some beside their rows
};

}  // namespace polarquant::capi
