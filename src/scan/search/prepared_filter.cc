// SPDX-License-Identifier: MIT
#include "src/scan/search/prepared_filter.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "src/core/rows_state.h"

namespace polarquant {
namespace {

class Prepared final : public FilterRule {
 public:
  explicit Prepared(RowFilter filter) : filter_(std::move(filter)) {}

  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    filter_.masks(first, count, masks);
  }
  uint64_t members(const int64_t* ids, int count) const override {
    return filter_.members(ids, count);
  }
  std::optional<std::span<const int64_t>> listed() const override { return filter_.listed(); }
  std::optional<int64_t> counted() const override { return filter_.counted(); }
  bool is_prepared() const override { return true; }

  RowFilter found(uint64_t rows_state, const std::function<RowFilter()>& find) const override {
    if (rows_state == kUnknownRows) return find();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto known = std::find_if(states_.begin(), states_.end(), [&](const State& state) {
        return state.rows_state == rows_state;
      });
      if (known != states_.end()) return known->found;
    }
    // Threads that begin together each find the same.
    RowFilter found = find();
    const std::lock_guard<std::mutex> lock(mutex_);
    states_.push_front({rows_state, found});
    if (states_.size() > kMostStates) states_.pop_back();
    return found;
  }

 private:
  /// Indexes that one filter is used for in turns. What was found of rows that have changed since
  /// goes as others come.
  static constexpr size_t kMostStates = 4;

  struct State {
    uint64_t rows_state;
    RowFilter found;
  };

  RowFilter filter_;
  mutable std::mutex mutex_;
  mutable std::deque<State> states_;
};

}  // namespace

RowFilter prepare(RowFilter filter) {
  if (filter.keeps_all()) return filter;
  return RowFilter(std::make_shared<Prepared>(std::move(filter)));
}

}  // namespace polarquant
