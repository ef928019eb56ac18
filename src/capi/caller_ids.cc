// SPDX-License-Identifier: MIT
#include "src/capi/caller_ids.h"

#include <algorithm>
#include <utility>

#include "src/capi/rising_ids.h"
#include "src/core/status.h"

namespace polarquant::capi {

CallerIds::CallerIds(std::shared_ptr<const MappedSection> rising) {
  require(rising->bytes() % sizeof(int64_t) == 0, StatusCode::corrupt_data,
          "index file: section KEYS has {} bytes; ids have 8 each", rising->bytes());
  files_.push_back(std::move(rising));
}

size_t CallerIds::size() const {
  size_t size = held_.size();
  for (const auto& file : files_) size += ids_in(*file).size();
  return size;
}

bool CallerIds::contains(int64_t id) const {
  return held_.contains(id) || std::any_of(files_.begin(), files_.end(),
                                           [&](const auto& file) { return contains(*file, id); });
}

bool CallerIds::contains(const MappedSection& file, int64_t id) {
  const std::span<const int64_t> ids = ids_in(file);
  const auto found = std::lower_bound(ids.begin(), ids.end(), id, [&](const int64_t& held, auto) {
    file.require_intact(static_cast<size_t>(&held - ids.data()) * sizeof held, sizeof held);
    return held < id;
  });
  return found != ids.end() && *found == id;
}

std::vector<int64_t> CallerIds::sorted() const {
  std::vector<int64_t> ids(held_.begin(), held_.end());
  std::sort(ids.begin(), ids.end());
  if (!files_.empty()) {
    ids.reserve(size());
    read_rising(files_, [&](std::span<const int64_t> next) {
      ids.insert(ids.end(), next.begin(), next.end());
    });
  }
  return ids;
}

void CallerIds::write_rising(ByteSink& sink) const {
  const auto write = [&](std::span<const int64_t> ids) {
    if (!ids.empty()) sink.write(ids.data(), ids.size_bytes());
  };
  if (files_.empty()) {
    write(sorted());
  } else {
    read_rising(files_, write);
  }
}

void CallerIds::join(const CallerIds& other) {
  files_.insert(files_.end(), other.files_.begin(), other.files_.end());
}

CallerIds CallerIds::in_memory() const {
  if (files_.empty()) return *this;
  const std::vector<int64_t> ids = sorted();
  return CallerIds(std::unordered_set<int64_t>(ids.begin(), ids.end()));
}

void CallerIds::verify() const {
  for (const auto& file : files_) file->verify_anew();
  if (!files_.empty()) read_rising(files_, [](std::span<const int64_t>) {});
}

size_t CallerIds::memory_bytes() const {
  // A node of the set: its link, key, and the allocator's own word.
  constexpr size_t kNodeBytes = 2 * sizeof(void*) + sizeof(int64_t);
  return held_.size() * kNodeBytes + held_.bucket_count() * sizeof(void*);
}

std::unordered_set<int64_t>& CallerIds::held() {
  if (!files_.empty()) *this = in_memory();
  return held_;
}

}  // namespace polarquant::capi
