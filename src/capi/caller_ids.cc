// SPDX-License-Identifier: MIT
#include "src/capi/caller_ids.h"

#include <algorithm>
#include <utility>

#include "src/core/status.h"

namespace polarquant::capi {

void require_rising(std::span<const int64_t> ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    require(ids[i] >= 0 && (i == 0 || ids[i] > ids[i - 1]), StatusCode::corrupt_data,
            "index file: id {} at {} of section KEYS; rising ids from 0 on are allowed", ids[i], i);
  }
}

CallerIds::CallerIds(std::shared_ptr<const MappedSection> rising) : mapped_(std::move(rising)) {
  require(mapped_->bytes() % sizeof(int64_t) == 0, StatusCode::corrupt_data,
          "index file: section KEYS has {} bytes; ids have 8 each", mapped_->bytes());
}

// Not verified yet.
std::span<const int64_t> CallerIds::in_file() const {
  return {reinterpret_cast<const int64_t*>(mapped_->data()), mapped_->bytes() / sizeof(int64_t)};
}

size_t CallerIds::size() const { return mapped_ != nullptr ? in_file().size() : held_.size(); }

bool CallerIds::contains(int64_t id) const {
  if (mapped_ == nullptr) return held_.contains(id);
  const std::span<const int64_t> ids = in_file();
  const auto found = std::lower_bound(ids.begin(), ids.end(), id, [&](const int64_t& held, auto) {
    mapped_->require_intact(static_cast<size_t>(&held - ids.data()) * sizeof held, sizeof held);
    return held < id;
  });
  return found != ids.end() && *found == id;
}

std::vector<int64_t> CallerIds::sorted() const {
  if (mapped_ != nullptr) {
    mapped_->require_intact();
    require_rising(in_file());
    return {in_file().begin(), in_file().end()};
  }
  std::vector<int64_t> ids(held_.begin(), held_.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

void CallerIds::read_rising(size_t first, std::span<int64_t> into) const {
  mapped_->require_intact(first * sizeof(int64_t), into.size_bytes());
  const std::span<const int64_t> ids = in_file().subspan(first, into.size());
  require_rising(ids);
  std::copy(ids.begin(), ids.end(), into.begin());
}

CallerIds CallerIds::in_memory() const {
  if (mapped_ == nullptr) return *this;
  const std::vector<int64_t> ids = sorted();
  return CallerIds(std::unordered_set<int64_t>(ids.begin(), ids.end()));
}

void CallerIds::verify() const {
  if (mapped_ == nullptr) return;
  mapped_->verify_anew();
  require_rising(in_file());
}

size_t CallerIds::memory_bytes() const {
  // A node of the set: its link, key, and the allocator's own word.
  constexpr size_t kNodeBytes = 2 * sizeof(void*) + sizeof(int64_t);
  return held_.size() * kNodeBytes + held_.bucket_count() * sizeof(void*);
}

std::unordered_set<int64_t>& CallerIds::held() {
  if (mapped_ != nullptr) *this = in_memory();
  return held_;
}

}  // namespace polarquant::capi
