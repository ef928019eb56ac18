// SPDX-License-Identifier: MIT
// The nodes of a graph that a search's filter keeps, and how the search finds the best of them: by
// a walk, or, where they are few, by scoring all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/search_request.h"

namespace polarquant {

class GraphFilter {
 public:
  /// `ef`: nodes that a walk keeps without a filter. The request is borrowed.
  GraphFilter(const SearchRequest& request, int64_t ef, int64_t nodes)
      : k_(request.goal.k), nodes_(nodes), filter_(request.filter), allowed_(nodes) {
    // A caller's function is asked for the nodes of a walk alone, as far as that goes.
    if (!filter_.keeps_all() && !filter_.calls_back()) {
      const CountedRows counted = count_rows(filter_, nodes);
      filter_ = counted.filter;
      allowed_ = counted.count;
    }
    plan_ = plan_graph({k_, ef, nodes, allowed_});
  }

  bool keeps_all() const { return filter_.keeps_all(); }
  bool keeps(int64_t node) const { return filter_.keeps(node); }
  int64_t ef() const { return plan_.ef; }
  /// Whether all that it keeps are to be scored, for a search that has found so many by a walk, or
  /// before one.
  bool gathers_first() const { return !keeps_all() && plan_.gathered; }
  bool gathers_after(size_t found) const {
    return !keeps_all() && static_cast<int64_t>(found) < std::min(k_, allowed_);
  }
  /// body(nodes) for all that it keeps, kTogether at a time and in order.
  static constexpr size_t kTogether = 64;
  template <typename Body>
  void for_each(const Body& body) const {
    std::array<int32_t, kTogether> some;
    size_t count = 0;
    filter_.for_each(0, nodes_, [&](int64_t node) {
      some[count++] = static_cast<int32_t>(node);
      if (count < kTogether) return;
      body(std::span<const int32_t>(some));
      count = 0;
    });
    if (count > 0) body(std::span<const int32_t>(some).first(count));
  }

 private:
  int64_t k_;
  int64_t nodes_;
  RowFilter filter_;
  int64_t allowed_;  // nodes, at most
  GraphPlan plan_;
};

}  // namespace polarquant
