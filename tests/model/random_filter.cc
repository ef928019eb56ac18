// SPDX-License-Identifier: MIT
#include "tests/model/random_filter.h"

#include <algorithm>
#include <limits>

#include "tests/support/filters.h"

namespace polarquant::test {
namespace {

constexpr int64_t kLast = std::numeric_limits<int64_t>::max();  // a range up to it has it too

int32_t keep_multiples(void* user, int64_t id) {
  // Any number but 0 keeps.
  return id % *static_cast<const int64_t*>(user) == 0 ? -7 : 0;
}

}  // namespace

RandomFilter::RandomFilter(Random& random, const PlainRows& rows)
    : kind_(static_cast<polar_filter_kind>(1 + random.below(4))), bits_(60) {
  for (uint64_t& word : bits_) word = random.next() & random.next();
  num_bits_ = static_cast<int64_t>(random.below(bits_.size() * 64 + 1));
  for (const PlainRows::Row& row : rows.rows()) {
    if (random.below(4) == 0) ids_.push_back(row.id);
  }
  // Ids that no row has are passed over.
  if (random.below(3) == 0) ids_.insert(ids_.end(), {-5, 999'999});
  std::sort(ids_.begin(), ids_.end());
  first_id_ = static_cast<int64_t>(random.below(600)) - 20;
  end_id_ = random.below(4) == 0 ? kLast : first_id_ + static_cast<int64_t>(random.below(2500));
  divisor_ = 2 + static_cast<int64_t>(random.below(4));
}

void RandomFilter::prepare() {
  if (kind_ == POLAR_FILTER_CALLBACK || prepared_ != nullptr) return;
  prepared_ = prepared_filter(filter());
}

bool RandomFilter::keeps(int64_t id) const {
  switch (kind_) {
    case POLAR_FILTER_BITSET:
      return id < num_bits_ && (bits_[static_cast<size_t>(id / 64)] >> (id % 64) & 1) != 0;
    case POLAR_FILTER_IDS:
      return std::binary_search(ids_.begin(), ids_.end(), id);
    case POLAR_FILTER_RANGE:
      return id >= first_id_ && (id < end_id_ || end_id_ == kLast);
    default:
      return id % divisor_ == 0;
  }
}

polar_filter RandomFilter::filter() const {
  if (prepared_ != nullptr) return filter_of(prepared_);
  polar_filter filter = filter_of(kind_);
  filter.bitset = {bits_.data(), num_bits_};
  filter.ids = {ids_.data(), static_cast<int64_t>(ids_.size())};
  filter.range = {first_id_, end_id_};
  filter.callback = {keep_multiples, const_cast<int64_t*>(&divisor_)};
  return filter;
}

std::string RandomFilter::name() const {
  return prepared_ != nullptr ? "prepared: " + rule_name() : rule_name();
}

std::string RandomFilter::rule_name() const {
  switch (kind_) {
    case POLAR_FILTER_BITSET:
      return "bits below " + std::to_string(num_bits_);
    case POLAR_FILTER_IDS:
      return std::to_string(ids_.size()) + " ids";
    case POLAR_FILTER_RANGE:
      return "ids " + std::to_string(first_id_) + " to " + std::to_string(end_id_);
    default:
      return "multiples of " + std::to_string(divisor_);
  }
}

}  // namespace polarquant::test
