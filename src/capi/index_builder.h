// SPDX-License-Identifier: MIT
// An index file built in parts (polarquant/build.h): an index in memory takes rows, and is written
// and emptied when it has taken the memory that it may.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/capi/index_handle.h"
#include "src/io/parts_folder.h"

namespace polarquant::capi {

class IndexBuilder {
 public:
  /// Begins a build with rows coded as `index` codes them.
  IndexBuilder(const polar_index& index, const std::string& path, bool replace,
               size_t memory_bytes);
  /// Goes on with one.
  IndexBuilder(const std::string& path, size_t memory_bytes);

  /// ids: (n), or null for rows without.
  void add(int64_t n, const float* x, const int64_t* ids);
  void write_part();
  void finish();

  int32_t dim() const { return dim_; }
  int64_t ntotal() const { return written_ + in_memory(); }
  int64_t written() const { return written_; }

 private:
  int64_t in_memory() const { return index_ != nullptr ? index_->faiss->ntotal : 0; }
  void load_state();
  void read_parts();
  void require_unfinished(const char* call) const;

  std::string path_;
  size_t memory_bytes_;
  PartsFolder folder_;
  std::unique_ptr<polar_index> index_;  // null once the build is finished
  int32_t dim_ = 0;
  size_t empty_bytes_ = 0;  // of it without rows
  polar_index::IdOrigin row_ids_ = polar_index::IdOrigin::undecided;
  int64_t parts_ = 0;
  int64_t written_ = 0;
};

}  // namespace polarquant::capi
