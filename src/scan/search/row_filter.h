// SPDX-License-Identifier: MIT
// Which rows take part in a search, asked 64 at a time so that blocks without any are skipped. A C
// caller's filter becomes one in capi/filter_input.cc, FAISS's selector in
// faiss/index/selector_filter.cc; filter_rules.h has the kinds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace polarquant {

class RowFilter;

/// What a filter keeps: numbers, of rows or ids. Asked from any thread, several at a time.
class FilterRule {
 public:
  virtual ~FilterRule() = default;
  /// Bit j of masks[i], (⌈count / 64⌉): whether number first + 64·i + j is kept; 0 from first +
  /// count on. first ≥ 0, count ≥ 1.
  virtual void masks(int64_t first, int64_t count, uint64_t* masks) const = 0;
  /// Bit i: whether ids[i] is kept; 1 ≤ count ≤ 64. Ids of files and of FAISS's own calls may be
  /// negative.
  virtual uint64_t members(const int64_t* ids, int count) const = 0;
  /// All that is kept, ascending and each once, where the rule has a list of it.
  virtual std::optional<std::span<const int64_t>> listed() const { return std::nullopt; }
  /// How many are kept, where that is known.
  virtual std::optional<int64_t> counted() const { return std::nullopt; }
  /// Whether each question calls a function of the caller's, which may take long.
  virtual bool calls_back() const { return false; }
  /// As RowFilter's.
  virtual bool is_prepared() const { return false; }
  virtual RowFilter found(uint64_t rows_state, const std::function<RowFilter()>& find) const;
};

class RowFilter {
 public:
  /// Every row takes part.
  RowFilter() = default;
  explicit RowFilter(std::shared_ptr<const FilterRule> rule) : rule_(std::move(rule)) {}
  /// From bool(int64_t), called from any thread.
  template <typename Keep, typename = std::enable_if_t<std::is_invocable_r_v<bool, Keep, int64_t>>>
  RowFilter(Keep keep)  // NOLINT: a function is a filter
      : rule_(std::make_shared<FunctionRule<Keep>>(std::move(keep))) {}

  bool keeps_all() const { return rule_ == nullptr; }
  /// As FilterRule::masks.
  void masks(int64_t first, int64_t count, uint64_t* masks) const {
    if (rule_ != nullptr) {
      rule_->masks(first, count, masks);
      return;
    }
    std::fill_n(masks, count / 64, ~uint64_t{0});
    if (count % 64 != 0) masks[count / 64] = first_bits(static_cast<int>(count % 64));
  }
  /// Bits 0 … count−1; 1 ≤ count ≤ 64.
  uint64_t allowed(int64_t first, int count) const {
    uint64_t mask;
    masks(first, count, &mask);
    return mask;
  }
  uint64_t members(const int64_t* ids, int count) const {
    return rule_ != nullptr ? rule_->members(ids, count) : first_bits(count);
  }
  /// The same for any number of ids, as masks(…).
  void member_masks(const int64_t* ids, int64_t count, uint64_t* masks) const {
    for (; count > 0; ids += 64, count -= 64)
      *masks++ = members(ids, static_cast<int>(std::min<int64_t>(64, count)));
  }
  bool keeps(int64_t row) const { return members(&row, 1) != 0; }
  const FilterRule* rule() const { return rule_.get(); }
  std::optional<int64_t> counted() const {
    return rule_ != nullptr ? rule_->counted() : std::nullopt;
  }
  /// Whether it keeps what was found of rows (prepared_filter.h).
  bool is_prepared() const { return rule_ != nullptr && rule_->is_prepared(); }
  /// find(), which is to depend on this filter and the rows that `rows_state` names
  /// (core/rows_state.h) alone: a prepared filter finds it once. The rows are asked for one thing:
  /// what is found may be found(…) of again. A filter that keeps all rows stays.
  RowFilter found(uint64_t rows_state, const std::function<RowFilter()>& find) const {
    return rule_ != nullptr ? rule_->found(rows_state, find) : RowFilter();
  }
  std::optional<std::span<const int64_t>> listed() const {
    return rule_ != nullptr ? rule_->listed() : std::nullopt;
  }
  bool calls_back() const { return rule_ != nullptr && rule_->calls_back(); }
  /// body(row) for those of rows first … end−1 that take part, in order.
  template <typename Body>
  void for_each(int64_t first, int64_t end, const Body& body) const {
    for (; first < end; first += 64) {
      const auto count = static_cast<int>(std::min<int64_t>(64, end - first));
      for (uint64_t left = allowed(first, count); left != 0; left &= left - 1)
        body(first + std::countr_zero(left));
    }
  }

  /// Bits 0 … count−1; 0 ≤ count ≤ 64.
  static uint64_t first_bits(int count) {
    return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  }

 private:
  template <typename Keep>
  class FunctionRule final : public FilterRule {
   public:
    explicit FunctionRule(Keep keep) : keep_(std::move(keep)) {}
    void masks(int64_t first, int64_t count, uint64_t* masks) const override {
      std::fill_n(masks, (count + 63) / 64, 0);
      for (int64_t i = 0; i < count; ++i)
        masks[i / 64] |= static_cast<uint64_t>(keep_(first + i) ? 1 : 0) << i % 64;
    }
    uint64_t members(const int64_t* ids, int count) const override {
      uint64_t mask = 0;
      for (int i = 0; i < count; ++i) mask |= static_cast<uint64_t>(keep_(ids[i]) ? 1 : 0) << i;
      return mask;
    }
    bool calls_back() const override { return true; }

   private:
    Keep keep_;
  };

  std::shared_ptr<const FilterRule> rule_;
};

inline RowFilter FilterRule::found(uint64_t /*rows_state*/,
                                   const std::function<RowFilter()>& find) const {
  return find();
}

}  // namespace polarquant
