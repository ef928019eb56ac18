// SPDX-License-Identifier: MIT
#include "src/scan/search/filter_rules.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant {
namespace {

int64_t words_for(int64_t count) { return div_up(count, 64); }

/// Sets bits first … end−1.
void set_bits(int64_t first, int64_t end, uint64_t* masks) {
  for (int64_t word = first / 64; first < end; ++word, first = 64 * word) {
    const auto last = static_cast<int>(std::min<int64_t>(64, end - 64 * word));
    masks[word] |=
        RowFilter::first_bits(last) & ~RowFilter::first_bits(static_cast<int>(first % 64));
  }
}

class Bits final : public FilterRule {
 public:
  Bits(const uint8_t* bits, int64_t num_bits) : bits_(bits), num_bits_(num_bits) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    const int64_t known = std::clamp<int64_t>(num_bits_ - first, 0, count);
    const int64_t whole = known / 64;
    if (first % 8 == 0) {
      std::memcpy(masks, bits_ + first / 8, static_cast<size_t>(whole) * 8);
    } else {
      for (int64_t word = 0; word < whole; ++word) masks[word] = some(first + 64 * word, 64);
    }
    std::fill(masks + whole, masks + words_for(count), 0);
    if (known % 64 != 0) masks[whole] = some(first + 64 * whole, static_cast<int>(known % 64));
  }
  uint64_t members(const int64_t* ids, int count) const override {
    uint64_t mask = 0;
    for (int i = 0; i < count; ++i) {
      // A negative id is above all others.
      const auto id = static_cast<uint64_t>(ids[i]);
      const bool is_known = id < static_cast<uint64_t>(num_bits_);
      mask |= static_cast<uint64_t>(is_known ? bits_[id / 8] >> id % 8 & 1 : 0) << i;
    }
    return mask;
  }

 private:
  /// Bits first … first+count−1, which are known; count is 1 to 64.
  uint64_t some(int64_t first, int count) const {
    const auto shift = static_cast<int>(first % 8);
    const uint8_t* from = bits_ + first / 8;
    const int bytes = (shift + count + 7) / 8;
    uint64_t low = 0;
    std::memcpy(&low, from, static_cast<size_t>(std::min(bytes, 8)));
    uint64_t mask = low >> shift;
    if (bytes == 9) mask |= uint64_t{from[8]} << (64 - shift);
    return mask & RowFilter::first_bits(count);
  }

  const uint8_t* bits_;
  int64_t num_bits_;
};

class Ids final : public FilterRule {
 public:
  explicit Ids(std::span<const int64_t> ids) : ids_(ids) { set_bits_of_ids(); }
  explicit Ids(std::vector<int64_t> ids) : owned_(std::move(ids)) {
    std::sort(owned_.begin(), owned_.end());
    owned_.erase(std::unique(owned_.begin(), owned_.end()), owned_.end());
    ids_ = owned_;
    set_bits_of_ids();
  }

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    std::fill_n(masks, words_for(count), 0);
    for (auto id = std::lower_bound(ids_.begin(), ids_.end(), first);
         id != ids_.end() && *id - first < count; ++id)
      set_bits(*id - first, *id - first + 1, masks);
  }
  uint64_t members(const int64_t* ids, int count) const override {
    uint64_t mask = 0;
    for (int i = 0; i < count; ++i) mask |= static_cast<uint64_t>(has(ids[i]) ? 1 : 0) << i;
    return mask;
  }
  std::optional<std::span<const int64_t>> listed() const override { return ids_; }
  std::optional<int64_t> counted() const override { return std::ssize(ids_); }

 private:
  /// Where ids lie close together they have bits as well, which are looked up in one step.
  void set_bits_of_ids() {
    constexpr uint64_t kBitsPerId = 64;
    constexpr uint64_t kFewBits = 1 << 18;
    if (ids_.empty()) return;
    const uint64_t last = from_first(ids_.back());
    if (last >= kBitsPerId * ids_.size() + kFewBits) return;
    bits_.resize(last / 64 + 1);
    for (const int64_t id : ids_) bits_[from_first(id) / 64] |= uint64_t{1} << from_first(id) % 64;
  }
  bool has(int64_t id) const {
    if (bits_.empty()) return std::binary_search(ids_.begin(), ids_.end(), id);
    const uint64_t at = from_first(id);
    return at / 64 < bits_.size() && (bits_[at / 64] >> at % 64 & 1) != 0;
  }
  /// Lower ids are above all others.
  uint64_t from_first(int64_t id) const {
    return static_cast<uint64_t>(id) - static_cast<uint64_t>(ids_.front());
  }

  std::vector<int64_t> owned_;
  std::span<const int64_t> ids_;
  std::vector<uint64_t> bits_;
};

class Range final : public FilterRule {
 public:
  Range(int64_t first, int64_t end) : first_(first), end_(end) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    std::fill_n(masks, words_for(count), 0);
    const int64_t begin = std::max(first_, first);
    // Nothing may overflow: first + count may be one above the last number.
    int64_t end = std::min(std::max(end_, first) - first, count);
    if (end_ == kNoEnd) end = count;
    if (begin - first < end) set_bits(begin - first, end, masks);
  }
  uint64_t members(const int64_t* ids, int count) const override {
    uint64_t mask = 0;
    for (int i = 0; i < count; ++i) {
      const bool is_kept = ids[i] >= first_ && (ids[i] < end_ || end_ == kNoEnd);
      mask |= static_cast<uint64_t>(is_kept ? 1 : 0) << i;
    }
    return mask;
  }

 private:
  int64_t first_;
  int64_t end_;
};

class Joined final : public FilterRule {
 public:
  Joined(RowFilter a, RowFilter b, JoinMasks join)
      : a_(std::move(a)), b_(std::move(b)), join_(join) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    constexpr int64_t kTogether = 64;
    uint64_t others[kTogether];
    a_.masks(first, count, masks);
    for (int64_t at = 0; at < count; at += 64 * kTogether) {
      const int64_t some = std::min(64 * kTogether, count - at);
      b_.masks(first + at, some, others);
      for (int64_t word = 0; word < words_for(some); ++word, ++masks)
        *masks = join_(*masks, others[word]);
      if (some % 64 != 0) masks[-1] &= RowFilter::first_bits(static_cast<int>(some % 64));
    }
  }
  uint64_t members(const int64_t* ids, int count) const override {
    return join_(a_.members(ids, count), b_.members(ids, count)) & RowFilter::first_bits(count);
  }
  bool calls_back() const override { return a_.calls_back() || b_.calls_back(); }

 private:
  RowFilter a_;
  RowFilter b_;
  JoinMasks join_;
};

class RowsOfIds final : public FilterRule {
 public:
  RowsOfIds(RowFilter filter, std::span<const int64_t> ids)
      : filter_(std::move(filter)), ids_(ids) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    filter_.member_masks(ids_.data() + first, count, masks);
  }
  uint64_t members(const int64_t* rows, int count) const override {
    int64_t ids[64];
    for (int i = 0; i < count; ++i) ids[i] = ids_[static_cast<size_t>(rows[i])];
    return filter_.members(ids, count);
  }
  bool calls_back() const override { return filter_.calls_back(); }

 private:
  RowFilter filter_;
  std::span<const int64_t> ids_;
};

class Shifted final : public FilterRule {
 public:
  Shifted(RowFilter filter, int64_t first) : filter_(std::move(filter)), first_(first) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    filter_.masks(first_ + first, count, masks);
  }
  uint64_t members(const int64_t* ids, int count) const override {
    int64_t numbers[64];
    for (int i = 0; i < count; ++i) numbers[i] = first_ + ids[i];
    return filter_.members(numbers, count);
  }
  bool calls_back() const override { return filter_.calls_back(); }

 private:
  RowFilter filter_;
  int64_t first_;
};

}  // namespace

RowFilter keep_bits(const uint8_t* bits, int64_t num_bits) {
  return RowFilter(std::make_shared<Bits>(bits, num_bits));
}
RowFilter keep_ids(std::span<const int64_t> ids) { return RowFilter(std::make_shared<Ids>(ids)); }
RowFilter keep_ids(std::vector<int64_t> ids) {
  return RowFilter(std::make_shared<Ids>(std::move(ids)));
}
RowFilter keep_range(int64_t first, int64_t end) {
  return RowFilter(std::make_shared<Range>(first, end));
}
RowFilter shifted(RowFilter filter, int64_t first) {
  if (first == 0 || filter.keeps_all()) return filter;
  return RowFilter(std::make_shared<Shifted>(std::move(filter), first));
}
RowFilter join(RowFilter a, RowFilter b, JoinMasks masks) {
  return RowFilter(std::make_shared<Joined>(std::move(a), std::move(b), masks));
}

KeptRows::KeptRows(std::vector<uint64_t> words, int64_t rows)
    : words_(std::move(words)), rows_(rows) {
  // Most have no bit where few rows are kept, and processors of long ago count in many steps.
  for (const uint64_t mask : words_) count_ += mask != 0 ? std::popcount(mask) : 0;
}

void KeptRows::masks(int64_t first, int64_t count, uint64_t* masks) const {
  Bits(bytes(), rows_).masks(first, count, masks);
}
uint64_t KeptRows::members(const int64_t* rows, int count) const {
  return Bits(bytes(), rows_).members(rows, count);
}

bool asks_for_all_rows(const SearchRequest& request) {
  const RowFilter& filter = request.filter;
  return filter.is_prepared() ||
         (request.nq > kQueriesBeforeCopy && !filter.keeps_all() && !filter.calls_back());
}

RowFilter kept_rows(const RowFilter& filter, int64_t rows) {
  std::vector<uint64_t> kept(static_cast<size_t>(words_for(rows)));
  if (rows > 0) filter.masks(0, rows, kept.data());
  return RowFilter(std::make_shared<KeptRows>(std::move(kept), rows));
}

RowFilter rows_of_ids(RowFilter filter, std::span<const int64_t> ids) {
  if (filter.keeps_all()) return {};
  return RowFilter(std::make_shared<RowsOfIds>(std::move(filter), ids));
}

std::optional<RowFilter> looked_up_rows(const RowFilter& filter, int64_t rows,
                                        const RowOfId& row_of) {
  // A look-up by an id takes about as long as the question for so many rows.
  constexpr int64_t kRowsPerId = 8;
  const auto listed = filter.listed();
  if (!row_of || !listed || std::ssize(*listed) >= rows / kRowsPerId) return std::nullopt;
  std::vector<uint64_t> kept(static_cast<size_t>(words_for(rows)));
  for (const int64_t id : *listed) {
    const int64_t row = row_of(id);
    if (row >= 0) set_bits(row, row + 1, kept.data());
  }
  return RowFilter(std::make_shared<KeptRows>(std::move(kept), rows));
}

RowFilter all_rows_of_ids(const RowFilter& filter, std::span<const int64_t> ids,
                          const RowOfId& row_of) {
  if (filter.keeps_all()) return {};
  if (std::optional<RowFilter> rows = looked_up_rows(filter, std::ssize(ids), row_of))
    return *std::move(rows);
  return kept_rows(rows_of_ids(filter, ids), std::ssize(ids));
}

}  // namespace polarquant
