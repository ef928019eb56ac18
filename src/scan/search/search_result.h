// SPDX-License-Identifier: MIT
// Where the results of a search go, and how they get there. Searches for the k best rows and for
// all within a radius are the same: rows within a radius reach a threshold that is there from the
// beginning.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/scan/search/partial_result.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// What a search within a radius found: rows lims[q] … lims[q+1]−1 are those of query q, best
/// first, ties by lower id.
struct RangeFound {
  std::vector<int64_t> lims = {};  // (nq + 1), from 0
  std::vector<float> scores = {};  // (lims[nq])
  std::vector<int64_t> ids = {};   // (lims[nq])
};

/// For the k best: scores best first and ids, both (nq, k), ties by lower id; where there are fewer
/// rows, id −1 with score −inf (inner product, cosine) or +inf (L2). Or else *partial. Within a
/// radius *found. Both may be used only after the search has returned.
struct SearchResult {
  SearchResult(float* top_scores, int64_t* top_ids) : scores(top_scores), ids(top_ids) {}
  SearchResult(RangeFound* in_range) : found(in_range) {}  // NOLINT: what was found is a result
  SearchResult(PartialResult* best_of_part) : partial(best_of_part) {}  // NOLINT: as well

  float* scores = nullptr;
  int64_t* ids = nullptr;
  RangeFound* found = nullptr;
  PartialResult* partial = nullptr;
};

/// Replaces each found id by new_id(id).
template <typename NewId>
void replace_ids(const SearchRequest& request, const SearchResult& result, const NewId& new_id) {
  if (result.partial != nullptr) {
    for (auto& rows : result.partial->queries)
      for (PartialRow& row : rows) row.id = new_id(row.id);
    return;
  }
  const bool is_range = request.goal.is_range;
  int64_t* ids = is_range ? result.found->ids.data() : result.ids;
  const int64_t count = is_range ? std::ssize(result.found->ids) : request.nq * request.goal.k;
  for (int64_t i = 0; i < count; ++i)
    if (ids[i] >= 0) ids[i] = new_id(ids[i]);
}

inline void require_radius(float radius) {
  require(!std::isnan(radius), StatusCode::bad_argument,
          "radius: {}; a number or an infinity is needed", radius);
}

/// Writes the results of a search, group of queries by group.
class ResultWriter {
 public:
  /// Throws bad_argument for a request whose nq, k, radius or exactness no search allows.
  ResultWriter(const SearchRequest& request, bool higher_is_nearer, const SearchResult& result)
      : goal_(request.goal), higher_is_nearer_(higher_is_nearer), result_(result) {
    require(request.nq >= 0, StatusCode::bad_argument, "nq: {} queries; at least 0 are needed",
            request.nq);
    require(request.options.exactness >= 0, StatusCode::bad_argument,
            "exactness: {}; 0 to infinity are allowed", request.options.exactness);
    if (!is_range()) {
      require(k() >= 1, StatusCode::bad_argument, "k: {}; at least 1 is needed", k());
      checked_mul(checked_mul(request.nq, k(), "nq x k results"), sizeof(int64_t),
                  "nq x k results");
      if (result.partial != nullptr)
        result.partial->queries.assign(static_cast<size_t>(request.nq), {});
      return;
    }
    require_radius(goal_.radius);
    result_.found->lims.assign(1, 0);
    result_.found->scores.clear();
    result_.found->ids.clear();
  }

  bool is_range() const { return goal_.is_range; }
  /// For a search of the k best.
  int64_t k() const { return goal_.k; }
  /// Whether keys are part of the result, as they were when rows were kept by them.
  bool is_partial() const { return result_.partial != nullptr; }
  /// Whether each query has a collector of its own.
  bool collectors_differ() const { return goal_.radii != nullptr; }
  /// Makes the collector of a query's rows; `kept` ≥ k of the best.
  TopK collector(int64_t query, int64_t kept) const {
    return is_range() ? TopK::within(key_of(query)) : TopK(kept);
  }
  /// Before rows are written: so many rows of each query are kept.
  void set_kept(int64_t kept) {
    if (is_partial()) result_.partial->kept = kept;
  }

  /// Results of a group of queries come one query at a time, from any thread, between these two.
  void begin_group(int64_t nq) {
    if (is_range()) group_.assign(static_cast<size_t>(nq), {});
  }
  void end_group() {
    for (std::vector<Neighbor>& rows : group_) {
      for (const Neighbor& row : rows) {
        result_.found->scores.push_back(score_of_key(row.score, higher_is_nearer_));
        result_.found->ids.push_back(row.id);
      }
      result_.found->lims.push_back(static_cast<int64_t>(result_.found->ids.size()));
      std::vector<Neighbor>().swap(rows);
    }
  }
  /// `first`: the group's first query; `query` is counted from there.
  void write(int64_t first, int64_t query, std::vector<Neighbor>& rows) {
    if (is_partial()) {
      keep_best(rows, result_.partial->kept);
      std::vector<PartialRow>& best = result_.partial->queries[static_cast<size_t>(first + query)];
      for (const Neighbor& row : rows)
        best.push_back({row.key, row.score, 0, row.id, row.id, row.id});
      return;
    }
    if (!is_range()) {
      const int64_t at = (first + query) * k();
      write_top_k(rows, k(), higher_is_nearer_, result_.scores + at, result_.ids + at);
      return;
    }
    const float key = key_of(first + query);
    std::erase_if(rows, [key](const Neighbor& row) { return !(row.score <= key); });
    std::sort(rows.begin(), rows.end(), comes_before);
    group_[static_cast<size_t>(query)] = std::move(rows);
  }

 private:
  /// The largest within the query's radius.
  float key_of(int64_t query) const {
    return std::nextafter(key_of_score(goal_.radius_of(query), higher_is_nearer_),
                          -std::numeric_limits<float>::infinity());
  }

  SearchGoal goal_;
  bool higher_is_nearer_;
  SearchResult result_;
  std::vector<std::vector<Neighbor>> group_;
};

}  // namespace polarquant
