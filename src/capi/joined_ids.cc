// SPDX-License-Identifier: MIT
#include "src/capi/joined_ids.h"

#include <algorithm>
#include <cstdint>
#include <queue>

#include "src/core/status.h"

namespace polarquant::capi {
namespace {

constexpr size_t kIdsAtATime = 8192;

/// Goes through the ids of one file.
class Cursor {
 public:
  explicit Cursor(const CallerIds& ids) : ids_(&ids) { read(); }

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
    ahead_.resize(std::min(kIdsAtATime, ids_->size() - read_));
    ids_->read_rising(read_, ahead_);
    read_ += ahead_.size();
    next_ = 0;
  }

  const CallerIds* ids_;
  std::vector<int64_t> ahead_;
  size_t next_ = 0;
  size_t read_ = 0;
};

}  // namespace

void write_joined_ids(const std::vector<CallerIds>& files, ByteSink& sink) {
  std::vector<Cursor> cursors(files.begin(), files.end());
  const auto later = [&](size_t a, size_t b) { return cursors[a].id() > cursors[b].id(); };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (size_t i = 0; i < cursors.size(); ++i)
    if (!cursors[i].at_end()) next.push(i);
  std::vector<int64_t> joined;
  const auto write = [&] {
    if (!joined.empty()) sink.write(joined.data(), joined.size() * sizeof(int64_t));
    joined.clear();
  };
  for (int64_t last = -1; !next.empty();) {
    const size_t file = next.top();
    next.pop();
    const int64_t id = cursors[file].id();
    require(id != last, StatusCode::bad_argument, "id {} is there twice; ids must differ", id);
    last = id;
    joined.push_back(id);
    if (joined.size() == kIdsAtATime) write();
    cursors[file].advance();
    if (!cursors[file].at_end()) next.push(file);
  }
  write();
}

}  // namespace polarquant::capi
