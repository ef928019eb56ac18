// SPDX-License-Identifier: MIT
#include "src/faiss/index/refine_range.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/faiss/index/index_parts.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// Rows whose two scores tell how far the finding index's are off.
constexpr idx_t kSampleRows = 64;
/// Rows near the radius may differ by more than the nearest: then it is widened once more.
constexpr int kMostRounds = 3;
/// Rows that a thread scores before it takes others.
constexpr size_t kTaskRows = 1024;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Candidate {
  idx_t row;
  float found;  // its score by the finding index
  float score;  // by the refining one
};

/// A query with what is known of it.
struct RefinedQuery {
  const float* x;
  std::vector<Candidate> nearest;
  std::vector<Candidate> candidates;
  double margin = 0;  // that the radius is wider by
};

double root_mean_square(const std::vector<Candidate>& rows, size_t count) {
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = double{rows[i].found} - rows[i].score;
    squares += difference * difference;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

/// The nodes that a search of a graph keeps; 0 for other indexes.
idx_t nodes_of_graph(const ::faiss::Index& index, const SearchOptions& options) {
  const ::faiss::Index& finding = finding_index(index);
  if (const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&finding))
    return options.ef_search > 0 ? options.ef_search : hnsw->hnsw.efSearch;
  if (const auto* nsg = dynamic_cast<const ::faiss::IndexNSG*>(&finding))
    return options.ef_search > 0 ? options.ef_search : nsg->nsg.search_L;
  return 0;
}

class RangeRefinement {
 public:
  RangeRefinement(const ::faiss::IndexRefine& index, const SearchRequest& request,
                  const FindCandidates& find)
      : index_(index),
        request_(request),
        find_(find),
        refinement_(refinement_of(index)),
        exactness_(request.options.exactness),
        queries_(static_cast<size_t>(request.nq)) {
    for (size_t q = 0; q < queries_.size(); ++q)
      queries_[q].x = request.queries + q * static_cast<size_t>(index.d);
  }

  void search(RangeFound* found) {
    if (exactness_ < kInfinity) find_nearest();
    std::vector<size_t> open;
    for (size_t q = 0; q < queries_.size(); ++q) {
      queries_[q].margin = margin_of(queries_[q].nearest, queries_[q].nearest.size());
      open.push_back(q);
    }
    for (int round = 0; round < kMostRounds && !open.empty(); ++round) {
      find_within(open, round);
      std::erase_if(open, [this](size_t q) { return !widen(queries_[q]); });
    }
    write(found);
  }

 private:
  float radius_of(const RefinedQuery& query) const {
    return request_.goal.radius_of(&query - queries_.data());
  }
  double margin_of(const std::vector<Candidate>& rows, size_t count) const {
    if (exactness_ == kInfinity) return kInfinity;
    const double margin = double{exactness_} * root_mean_square(rows, count);
    return std::isfinite(margin) ? margin : kInfinity;
  }

  float wider(float radius, double margin) const {
    constexpr double kMost = std::numeric_limits<float>::max();
    const double end = refinement_.higher_is_nearer ? -1 : 1;
    const double limit = end * radius + margin;
    if (!(limit < kMost)) return static_cast<float>(end) * kInfinity;
    if (limit < -kMost) return radius;
    return std::nextafter(static_cast<float>(end * limit), static_cast<float>(end) * kInfinity);
  }

  /// A part of the work, whose share of it is told.
  SearchRequest part(double begin, double end) const {
    SearchRequest request = request_;
    if (request_.progress) {
      request.progress = [this, begin, end](double done) {
        return request_.progress(begin + (end - begin) * done);
      };
    }
    return request;
  }

  void find_nearest() {
    const idx_t nodes = nodes_of_graph(*index_.base_index, request_.options);
    const idx_t k = std::min(index_.ntotal, std::max(kSampleRows, nodes));
    if (k == 0) return;
    SearchRequest request = part(0, .4);
    request.goal = SearchGoal::best(k);
    const size_t results = checked_mul(request.nq, k, "n x k candidates");
    std::vector<float> scores(results);
    std::vector<idx_t> rows(results);
    find_(request, {scores.data(), rows.data()});
    std::vector<size_t> all;
    for (size_t q = 0; q < queries_.size(); ++q) {
      all.push_back(q);
      for (size_t i = q * static_cast<size_t>(k); i < (q + 1) * static_cast<size_t>(k); ++i)
        if (rows[i] >= 0) queries_[q].candidates.push_back({rows[i], scores[i], 0});
    }
    score(all);
    for (RefinedQuery& query : queries_) query.nearest = std::exchange(query.candidates, {});
  }

  void find_within(const std::vector<size_t>& open, int round) {
    SearchRequest request = part(.4 + .2 * round, .6 + .2 * round);
    std::vector<float> radii;
    std::vector<float> rows;
    for (const size_t q : open) {
      radii.push_back(wider(radius_of(queries_[q]), queries_[q].margin));
      rows.insert(rows.end(), queries_[q].x, queries_[q].x + index_.d);
    }
    request.nq = std::ssize(open);
    request.queries = rows.data();
    request.goal = SearchGoal::within(radii.data());
    RangeFound found;
    find_(request, &found);
    for (size_t at = 0; at < open.size(); ++at) {
      RefinedQuery& query = queries_[open[at]];
      query.candidates.clear();
      for (auto i = found.lims[at]; i < found.lims[at + 1]; ++i) {
        const auto place = static_cast<size_t>(i);
        query.candidates.push_back({found.ids[place], found.scores[place], 0});
      }
    }
    score(open);
    for (const size_t q : open) add_nearest(queries_[q]);
  }

  static void add_nearest(RefinedQuery& query) {
    query.candidates.insert(query.candidates.end(), query.nearest.begin(), query.nearest.end());
    const auto by_row = [](const Candidate& a, const Candidate& b) { return a.row < b.row; };
    std::stable_sort(query.candidates.begin(), query.candidates.end(), by_row);
    const auto same = [](const Candidate& a, const Candidate& b) { return a.row == b.row; };
    query.candidates.erase(std::unique(query.candidates.begin(), query.candidates.end(), same),
                           query.candidates.end());
  }

  /// By the candidates nearest to the radius. Returns whether it is wider now.
  bool widen(RefinedQuery& query) const {
    if (query.margin == kInfinity) return false;
    const float radius = radius_of(query);
    std::vector<Candidate> near(
        std::min<size_t>(query.candidates.size(), static_cast<size_t>(kSampleRows)));
    std::partial_sort_copy(query.candidates.begin(), query.candidates.end(), near.begin(),
                           near.end(), [radius](const Candidate& a, const Candidate& b) {
                             const float from_a = std::abs(a.found - radius);
                             const float from_b = std::abs(b.found - radius);
                             return from_a != from_b ? from_a < from_b : a.row < b.row;
                           });
    const double margin = margin_of(near, near.size());
    if (!(margin > query.margin)) return false;
    query.margin = margin;
    return true;
  }

  /// By the refining index.
  void score(const std::vector<size_t>& which) {
    struct Task {
      RefinedQuery* query;
      size_t begin;
      size_t end;
    };
    std::vector<Task> tasks;
    for (const size_t q : which) {
      const size_t rows = queries_[q].candidates.size();
      for (size_t begin = 0; begin < rows; begin += kTaskRows)
        tasks.push_back({&queries_[q], begin, std::min(rows, begin + kTaskRows)});
    }
    const int threads = thread_count(0, std::ssize(tasks));
    std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
    parallel_for(std::ssize(tasks), threads, [&](int64_t i, int thread) {
      const Task& task = tasks[static_cast<size_t>(i)];
      auto& computer = computers[static_cast<size_t>(thread)];
      if (computer == nullptr) computer.reset(index_.refine_index->get_distance_computer());
      computer->set_query(task.query->x);
      for (size_t at = task.begin; at < task.end; ++at) {
        Candidate& candidate = task.query->candidates[at];
        candidate.score = (*computer)(candidate.row);
      }
    });
  }

  void write(RangeFound* found) const {
    const bool higher = refinement_.higher_is_nearer;
    *found = {.lims = {0}};
    for (const RefinedQuery& query : queries_) {
      const float radius = radius_of(query);
      std::vector<Neighbor> within;
      for (const Candidate& candidate : query.candidates) {
        if (higher ? candidate.score > radius : candidate.score < radius)
          within.push_back({key_of_score(candidate.score, higher), candidate.row});
      }
      std::sort(within.begin(), within.end());
      for (const Neighbor& row : within) {
        found->scores.push_back(score_of_key(row.key, higher));
        found->ids.push_back(row.id);
      }
      found->lims.push_back(std::ssize(found->ids));
    }
  }

  const ::faiss::IndexRefine& index_;
  const SearchRequest& request_;
  const FindCandidates& find_;
  Refinement refinement_;
  float exactness_;
  std::vector<RefinedQuery> queries_;
};

}  // namespace

void refine_range(const ::faiss::IndexRefine& index, const SearchRequest& request,
                  RangeFound* found, const FindCandidates& find) {
  for (int64_t q = 0; q < request.nq; ++q) require_radius(request.goal.radius_of(q));
  require(request.options.exactness >= 0, StatusCode::bad_argument,
          "exactness: {}; 0 to infinity are allowed", request.options.exactness);
  RangeRefinement(index, request, find).search(found);
}

}  // namespace polarquant
