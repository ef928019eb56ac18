// SPDX-License-Identifier: MIT
// What a search is to find of each query, the k best rows or all rows within a radius, and where
// its results go. The searches themselves are the same: rows within a radius are those that reach a
// threshold which stands from the beginning.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/scan/search/range_found.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

class SearchGoal {
 public:
  /// The k best: scores, ids (nq, k).
  static SearchGoal best(int64_t nq, int64_t k, bool higher_is_nearer, float* scores,
                         int64_t* ids) {
    require(nq >= 0, StatusCode::bad_argument, "nq: {} queries; at least 0 are needed", nq);
    require(k >= 1, StatusCode::bad_argument, "k: {}; at least 1 is needed", k);
    checked_mul(checked_mul(nq, k, "nq x k results"), sizeof(int64_t), "nq x k results");
    SearchGoal goal(higher_is_nearer);
    goal.k_ = k;
    goal.scores_ = scores;
    goal.ids_ = ids;
    return goal;
  }
  /// Scores above the radius where higher is nearer, else below it.
  static SearchGoal within(int64_t nq, float radius, bool higher_is_nearer, RangeFound* found) {
    require(nq >= 0, StatusCode::bad_argument, "nq: {} queries; at least 0 are needed", nq);
    require(!std::isnan(radius), StatusCode::bad_argument,
            "radius: {}; a number or an infinity is needed", radius);
    SearchGoal goal(higher_is_nearer);
    goal.key_ = std::nextafter(higher_is_nearer ? -radius : radius,
                               -std::numeric_limits<float>::infinity());
    goal.found_ = found;
    found->lims.assign(1, 0);
    found->scores.clear();
    found->ids.clear();
    return goal;
  }

  bool is_range() const { return found_ != nullptr; }
  /// Of a search of the k best.
  int64_t k() const { return k_; }
  /// What keeps a query's rows; `kept` ≥ k of the best.
  TopK collector(int64_t kept) const { return is_range() ? TopK::within(key_) : TopK(kept); }

  /// Results of a group of queries come one query at a time, from any thread, between these two.
  void begin_group(int64_t nq) {
    if (is_range()) group_.assign(static_cast<size_t>(nq), {});
  }
  void end_group() {
    for (std::vector<Neighbor>& rows : group_) {
      for (const Neighbor& row : rows) {
        found_->scores.push_back(score_of_key(row.score, higher_is_nearer_));
        found_->ids.push_back(row.id);
      }
      found_->lims.push_back(static_cast<int64_t>(found_->ids.size()));
      std::vector<Neighbor>().swap(rows);
    }
  }
  /// `first`: the group's first query; `query` is counted from there.
  void write(int64_t first, int64_t query, std::vector<Neighbor>& rows) {
    if (!is_range()) {
      const int64_t at = (first + query) * k_;
      write_top_k(rows, k_, higher_is_nearer_, scores_ + at, ids_ + at);
      return;
    }
    std::erase_if(rows, [this](const Neighbor& row) { return !(row.score <= key_); });
    std::sort(rows.begin(), rows.end(), [](const Neighbor& a, const Neighbor& b) {
      return a.score < b.score || (a.score == b.score && a.id < b.id);
    });
    group_[static_cast<size_t>(query)] = std::move(rows);
  }

 private:
  explicit SearchGoal(bool higher_is_nearer) : higher_is_nearer_(higher_is_nearer) {}

  bool higher_is_nearer_;
  int64_t k_ = 0;
  float* scores_ = nullptr;
  int64_t* ids_ = nullptr;
  float key_ = 0;  // the largest within the radius
  RangeFound* found_ = nullptr;
  std::vector<std::vector<Neighbor>> group_;
};

}  // namespace polarquant
