// SPDX-License-Identifier: MIT
// Several index files as one index: they are mapped, and stay where they are. It is searched, or
// written list by list, so that memory does not grow with the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/capi/index_handle.h"
#include "src/io/mapped_file.h"

namespace polarquant::capi {

class JoinedFiles {
 public:
  enum class Use { searching, writing };
  explicit JoinedFiles(Use use) : use_(use) {}

  /// The file's rows come after those of the files before. Errors begin with the path.
  void add(const std::string& path);
  /// For searching. At least one file was added.
  std::unique_ptr<polar_index> take_index() { return std::move(joined_); }
  /// For writing, the same. Tells the thread's work how far it is.
  void write(const std::string& path) const;

 private:
  void release_pages() const;

  Use use_;
  std::unique_ptr<polar_index> joined_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
};

/// An index in memory, without rows, that codes as a file's does. Errors begin with the path.
std::unique_ptr<polar_index> load_without_rows(const std::string& path);

}  // namespace polarquant::capi
