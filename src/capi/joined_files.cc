// SPDX-License-Identifier: MIT
#include "src/capi/joined_files.h"

#include <algorithm>
#include <utility>

#include "src/capi/merge_rules.h"
#include "src/capi/path_errors.h"
#include "src/capi/stored_handle.h"
#include "src/core/work_progress.h"
#include "src/faiss/files/index_files.h"
#include "src/faiss/files/stored_kinds.h"

namespace polarquant::capi {
namespace {

/// Pages of mapped files that may be in memory at a time.
constexpr uint64_t kPagesBytes = uint64_t{32} << 20;

}  // namespace

void JoinedFiles::add(const std::string& path) {
  with_path(path, [&] {
    auto file = std::make_shared<const MappedFile>(path);
    std::unique_ptr<polar_index> index = read_handle(SectionReader(file), false);
    if (joined_ == nullptr) {
      joined_ = std::move(index);
    } else {
      require_rows_mix(*joined_, *index);
      const int64_t numbers = numbers_before(*joined_, *index);
      const auto row_ids = index->faiss->ntotal > 0 ? index->row_ids : joined_->row_ids;
      const auto copies =
          use_ == Use::searching ? JoinedLists::Copies::all : JoinedLists::Copies::last;
      join_rows(*joined_->faiss, *index->faiss, {copies, numbers});
      joined_->ids.join(index->ids);
      joined_->row_ids = row_ids;
    }
    files_.push_back(std::move(file));
    release_pages();
  });
}

// Another one of the same file takes its rows.
std::unique_ptr<polar_index> load_without_rows(const std::string& path) {
  return with_path(path, [&] {
    const auto file = std::make_shared<const MappedFile>(path);
    const std::unique_ptr<polar_index> rows = read_handle(SectionReader(file), false);
    std::unique_ptr<polar_index> index = read_handle(SectionReader(file), false);
    require(can_join_rows(*index->faiss), StatusCode::unsupported,
            "\"{}\" is of a kind that is not built in parts", index->description);
    join_rows(*rows->faiss, *index->faiss, {JoinedLists::Copies::last, 0, false});
    index->ids = CallerIds();
    index->row_ids = polar_index::IdOrigin::undecided;
    return index;
  });
}

void JoinedFiles::write(const std::string& path) const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file->bytes();
  uint64_t released = 0;
  write_file(sections_of(*joined_), path, {}, [&](uint64_t written) {
    report_work(std::min(1.0, static_cast<double>(written) / static_cast<double>(bytes)));
    if (written - released < kPagesBytes) return;
    released = written;
    release_pages();
  });
}

void JoinedFiles::release_pages() const {
  for (const auto& file : files_) file->release_pages();
}

}  // namespace polarquant::capi
