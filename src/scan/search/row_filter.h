// SPDX-License-Identifier: MIT
// Which rows take part in a search, asked 64 at a time so that blocks without any are skipped.
// A C caller's filter becomes one in capi/search_options.cc, FAISS's selector in
// faiss/index/search_parameters.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace polarquant {

class RowFilter {
 public:
  /// Bit i: whether row first + i takes part; count is 1 to 64, bits from there on are ignored.
  /// Called from any thread.
  using Mask = std::function<uint64_t(int64_t first, int count)>;

  /// Every row takes part.
  RowFilter() = default;
  static RowFilter from_mask(Mask mask) {
    RowFilter filter;
    filter.mask_ = std::move(mask);
    return filter;
  }
  /// From bool(int64_t row), called from any thread.
  template <typename Keep, typename = std::enable_if_t<std::is_invocable_r_v<bool, Keep, int64_t>>>
  RowFilter(Keep keep)  // NOLINT: a function is a filter
      : mask_([keep = std::move(keep)](int64_t first, int count) {
          uint64_t bits = 0;
          for (int i = 0; i < count; ++i)
            bits |= static_cast<uint64_t>(keep(first + i) ? 1 : 0) << i;
          return bits;
        }) {}

  bool keeps_all() const { return !mask_; }
  /// Bits 0 … count−1; 1 ≤ count ≤ 64.
  uint64_t allowed(int64_t first, int count) const {
    const uint64_t rows = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    return mask_ ? mask_(first, count) & rows : rows;
  }
  bool keeps(int64_t row) const { return allowed(row, 1) != 0; }
  /// body(row) for those of rows first … end−1 that take part, in order.
  template <typename Body>
  void for_each(int64_t first, int64_t end, const Body& body) const {
    for (; first < end; first += 64) {
      const auto count = static_cast<int>(std::min<int64_t>(64, end - first));
      for (uint64_t left = allowed(first, count); left != 0; left &= left - 1)
        body(first + std::countr_zero(left));
    }
  }

 private:
  Mask mask_;
};

}  // namespace polarquant
