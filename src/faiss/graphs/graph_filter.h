// SPDX-License-Identifier: MIT
// The nodes of a graph that a search's filter keeps, and how the search finds the best of them: by
// a walk, or, where they are few, by scoring all of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/search_request.h"

namespace polarquant {

class GraphFilter {
 public:
  /// `ef`: nodes that a walk keeps without a filter; in_records: walks go through records, which is
  /// faster. The request is borrowed.
  GraphFilter(const SearchRequest& request, int64_t ef, int64_t nodes, bool in_records)
      : k_(request.goal.k), own_ef_(ef), nodes_(nodes), filter_(request.filter), allowed_(nodes) {
    int64_t expected = nodes;
    const auto plan = [&](int64_t allowed) {
      return plan_graph({k_, ef, nodes, allowed, in_records});
    };
    // A caller's function is asked for the nodes of a walk alone, as far as that goes.
    if (asks_for_all_rows(request)) {
      count(filter_.found(request.rows_state, [&] { return kept_rows(request.filter, nodes); }));
      expected = allowed_;
    } else if (!filter_.keeps_all() && !filter_.calls_back()) {
      expected = estimate(filter_, nodes);
      // Asking for every node takes longer than a walk where nodes have ids: all are asked for only
      // where the sample, which may be a quarter off, says that they may be few.
      if (plan(expected - expected / 4).gathered) {
        count(kept_rows(filter_, nodes));
        expected = allowed_;
      }
    }
    plan_ = plan(expected);
    if (nodes > 0)
      kept_share_ =
          static_cast<double>(std::max<int64_t>(expected, 1)) / static_cast<double>(nodes);
  }

  bool keeps_all() const { return filter_.keeps_all(); }
  bool keeps(int64_t node) const { return filter_.keeps(node); }
  int64_t ef() const { return plan_.ef; }
  /// That of a walk without a filter.
  int64_t own_ef() const { return own_ef_; }
  /// Whether kept_share() is known: a caller's function is not asked for it.
  bool knows_share() const { return keeps_all() || !filter_.calls_back(); }
  /// Of the nodes, about; above 0.
  double kept_share() const { return kept_share_; }
  /// The filter, of nodes; KeptRows where all were asked for.
  const RowFilter& nodes() const { return filter_; }
  /// So many nodes that it keeps may be copied, and the copies searched.
  int64_t most_copies() const { return plan_.most_copies; }
  /// Whether a search makes a walk at all.
  bool walks() const { return keeps_all() || !plan_.gathered; }
  /// Whether all that it keeps are to be scored, where a search has found so many by a walk, or
  /// none without one.
  bool gathers_after(size_t found) const {
    return !walks() || (!keeps_all() && static_cast<int64_t>(found) < std::min(k_, allowed_));
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
  void count(RowFilter kept) {
    filter_ = std::move(kept);
    allowed_ = *filter_.counted();
  }
  /// How many nodes a filter keeps, judged by 2,048 of them at even distances.
  static int64_t estimate(const RowFilter& filter, int64_t nodes) {
    constexpr int64_t kSamples = 32;
    constexpr int kSampleNodes = 64;
    if (nodes <= kSamples * kSampleNodes) return 0;  // few are counted
    int64_t kept = 0;
    for (int64_t i = 0; i < kSamples; ++i)
      kept += std::popcount(filter.allowed((nodes - kSampleNodes) * i / kSamples, kSampleNodes));
    return static_cast<int64_t>(static_cast<double>(kept) / (kSamples * kSampleNodes) *
                                static_cast<double>(nodes));
  }

  int64_t k_;
  int64_t own_ef_;
  int64_t nodes_;
  double kept_share_ = 1;
  RowFilter filter_;
  int64_t allowed_;  // nodes, at most
  GraphPlan plan_;
};

}  // namespace polarquant
