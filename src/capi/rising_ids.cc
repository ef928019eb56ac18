// SPDX-License-Identifier: MIT
#include "src/capi/rising_ids.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "src/core/status.h"

namespace polarquant::capi {
namespace {

constexpr size_t kIdsAtATime = 8192;

/// Goes through the ids of one file.
class Cursor {
 public:
  explicit Cursor(const MappedSection& file) : file_(&file) { read(); }

  bool at_end() const { return next_ == ahead_.size(); }
  int64_t id() const { return ahead_[next_]; }
  void advance() {
    const int64_t before = id();
    if (++next_ < ahead_.size()) return;
    read();
    require(at_end() || id() > before, StatusCode::corrupt_data,
            "index file: id {} after {} in section KEYS; rising ids are allowed",
            at_end() ? 0 : id(), before);
  }

 private:
  void read() {
    const std::span<const int64_t> all = ids_in(*file_);
    ahead_ = all.subspan(read_, std::min(kIdsAtATime, all.size() - read_));
    file_->require_intact(read_ * sizeof(int64_t), ahead_.size_bytes());
    require_rising(ahead_);
    read_ += ahead_.size();
    next_ = 0;
  }

  const MappedSection* file_;
  std::span<const int64_t> ahead_;
  size_t next_ = 0;
  size_t read_ = 0;
};

}  // namespace

void require_rising(std::span<const int64_t> ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    require(ids[i] >= 0 && (i == 0 || ids[i] > ids[i - 1]), StatusCode::corrupt_data,
            "index file: id {} at {} of section KEYS; rising ids from 0 on are allowed", ids[i], i);
  }
}

std::span<const int64_t> ids_in(const MappedSection& file) {
  return {reinterpret_cast<const int64_t*>(file.data()), file.bytes() / sizeof(int64_t)};
}

void read_rising(std::span<const std::shared_ptr<const MappedSection>> files, const TakeIds& take) {
  std::vector<Cursor> cursors;
  for (const auto& file : files) cursors.emplace_back(*file);
  const auto later = [&](size_t a, size_t b) { return cursors[a].id() > cursors[b].id(); };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (size_t i = 0; i < cursors.size(); ++i)
    if (!cursors[i].at_end()) next.push(i);
  std::vector<int64_t> joined;
  const auto give = [&] {
    if (!joined.empty()) take(joined);
    joined.clear();
  };
  for (int64_t last = -1; !next.empty();) {
    const size_t file = next.top();
    next.pop();
    const int64_t id = cursors[file].id();
    require(id != last, StatusCode::bad_argument, "id {} is there twice; ids must differ", id);
    last = id;
    joined.push_back(id);
    if (joined.size() == kIdsAtATime) give();
    cursors[file].advance();
    if (!cursors[file].at_end()) next.push(file);
  }
  give();
}

}  // namespace polarquant::capi
