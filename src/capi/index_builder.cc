// SPDX-License-Identifier: MIT
#include "src/capi/index_builder.h"

#include <algorithm>
#include <utility>

#include "src/capi/argument_checks.h"
#include "src/capi/index_adds.h"
#include "src/capi/joined_files.h"
#include "src/capi/merge_rules.h"
#include "src/capi/path_errors.h"
#include "src/capi/stored_handle.h"
#include "src/core/row_length.h"
#include "src/core/work_progress.h"
#include "src/faiss/files/index_files.h"
#include "src/faiss/files/stored_kinds.h"
#include "src/faiss/index/index_parts.h"
#include "src/scan/stores/row_store.h"

namespace polarquant::capi {
namespace {

/// Floats that are coded at a time: between them memory is looked at.
constexpr size_t kPieceBytes = size_t{32} << 20;
constexpr int64_t kLeastPieceRows = 64;

std::unique_ptr<polar_index> load(const std::string& path, bool memory_map) {
  return with_path(path, [&] { return read_handle(open_file(path, memory_map), false); });
}

/// Memory of all that grows with rows, and more.
size_t memory_of(const polar_index& index) {
  size_t bytes = index.ids.memory_bytes();
  for_each_part(*index.faiss, [&](const ::faiss::Index& part) {
    if (const auto* polar = dynamic_cast<const IndexPolar*>(&part)) bytes += polar->memory_bytes();
    if (const auto* lists = dynamic_cast<const IndexIVFPolar*>(&part))
      bytes += lists->memory_bytes();
  });
  return bytes + static_cast<size_t>(index.faiss->ntotal) * sizeof(int64_t);
}

/// Refuses what finish() could not join, and codes that each part would make otherwise.
void require_parts_can_be_made(const polar_index& index) {
  require(index.faiss->ntotal == 0, StatusCode::state_mismatch,
          "index: it holds {} rows; a trained index without rows is needed", index.faiss->ntotal);
  require(can_join_rows(*index.faiss), StatusCode::unsupported,
          "index: \"{}\" is not built in parts; our codes, flat and in inverted files, are, also "
          "after transforms, in id maps and in refinements by our codes",
          index.description);
  bool is_trained = index.faiss->is_trained;
  for_each_part(*index.faiss, [&](const ::faiss::Index& part) {
    if (const auto* polar = dynamic_cast<const IndexPolar*>(&part))
      is_trained = is_trained && !polar->codes().holds_floats();
  });
  require(is_trained, StatusCode::not_trained,
          "index: it was not trained, and parts would learn from different rows; call "
          "polar_index_train first");
}

}  // namespace

IndexBuilder::IndexBuilder(const polar_index& index, const std::string& path, bool replace,
                           size_t memory_bytes)
    : path_(path),
      memory_bytes_(memory_bytes),
      folder_((require_parts_can_be_made(index), path), PartsFolder::Opening::make) {
  // What is left of one that was removed is no build, whatever parts it has.
  if (folder_.has_state() && !replace) {
    fail(StatusCode::bad_argument,
         "path: {}.parts has {} parts of an earlier build; go on with it by polar_builder_resume, "
         "or set options.replace to 1",
         path, folder_.count());
  }
  folder_.clear();
  write_file(sections_of(index), folder_.state_path());
  load_state();
}

IndexBuilder::IndexBuilder(const std::string& path, size_t memory_bytes)
    : path_(path), memory_bytes_(memory_bytes), folder_(path, PartsFolder::Opening::existing) {
  load_state();
  require_parts_can_be_made(*index_);
  read_parts();
}

void IndexBuilder::read_parts() {
  parts_ = folder_.count();
  for (int64_t number = 1; number <= parts_; ++number) {
    const std::string path = folder_.part_path(number);
    const std::unique_ptr<polar_index> part = load(path, true);
    try {
      require_rows_mix(*index_, *part);
    } catch (const Error& error) {
      fail(StatusCode::corrupt_data, "{}: is of another build: {}", path, error.what());
    }
    require(number == 1 || part->row_ids == row_ids_, StatusCode::corrupt_data,
            "{}: is of another build: its rows have ids of the caller's, or others have", path);
    row_ids_ = part->row_ids;
    written_ += part->faiss->ntotal;
  }
}

void IndexBuilder::load_state() {
  index_ = load(folder_.state_path(), false);
  empty_bytes_ = memory_of(*index_);
  dim_ = index_->dim;
}

void IndexBuilder::require_unfinished(const char* call) const {
  require(index_ != nullptr, StatusCode::state_mismatch,
          "{}: the build is finished; the index file is there", call);
}

void IndexBuilder::add(int64_t n, const float* x, const int64_t* ids) {
  require_unfinished("add");
  require_count("n", n, 0);
  // All of them: what is refused later would leave the first pieces in.
  if (index_->metric == Metric::cosine) {
    require_finite("x", x, n, index_->dim);
  } else {
    require_array("x", x, n, index_->dim, sizeof(float));
    require_row_lengths("x", n, index_->dim, x);
  }
  const auto wanted =
      ids != nullptr ? polar_index::IdOrigin::callers : polar_index::IdOrigin::positions;
  require(row_ids_ == wanted || row_ids_ == polar_index::IdOrigin::undecided,
          StatusCode::bad_argument, "builder: its rows have {}; rows {} cannot come after them",
          ids != nullptr ? "no ids of the caller's" : "ids of the caller's",
          ids != nullptr ? "with ids" : "without");
  const size_t row_bytes = static_cast<size_t>(index_->dim) * sizeof(float);
  const auto piece = std::max(
      kLeastPieceRows, static_cast<int64_t>(std::min(kPieceBytes, memory_bytes_ / 2) / row_bytes));
  for (int64_t first = 0; first < n; first += piece) {
    if (memory_of(*index_) >= empty_bytes_ + memory_bytes_) write_part();
    const int64_t count = std::min(piece, n - first);
    const WorkStage stage(static_cast<double>(first) / static_cast<double>(n),
                          static_cast<double>(first + count) / static_cast<double>(n));
    const float* rows = x + static_cast<size_t>(first) * static_cast<size_t>(index_->dim);
    if (ids != nullptr) {
      add_rows_with_ids(index_.get(), count, rows, ids + first);
    } else {
      add_rows(index_.get(), count, rows);
    }
    row_ids_ = wanted;
  }
}

void IndexBuilder::write_part() {
  require_unfinished("write_part");
  if (in_memory() == 0) return;
  write_file(sections_of(*index_), folder_.part_path(parts_ + 1));
  ++parts_;
  written_ += in_memory();
  index_->faiss->reset();
  index_->ids = CallerIds();
  index_->row_ids = polar_index::IdOrigin::undecided;
}

void IndexBuilder::finish() {
  require_unfinished("finish");
  write_part();
  {
    // Closed before they are removed: Windows removes no file that is mapped.
    JoinedFiles files(JoinedFiles::Use::writing);
    if (parts_ == 0) files.add(folder_.state_path());
    for (int64_t number = 1; number <= parts_; ++number) files.add(folder_.part_path(number));
    files.write(path_);
  }
  index_.reset();
  folder_.remove();
}

}  // namespace polarquant::capi
