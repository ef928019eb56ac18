// SPDX-License-Identifier: MIT
#include "bench/recall/ground_truth.h"

#include <faiss/utils/distances.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

// Rows a product may misplace near the k-th: duplicates and rounding. 32 is several times what
// float sums confuse on embeddings.
constexpr int64_t kSurplus = 32;
constexpr int64_t kBlockRows = 32768;

/// Cost: less is nearer, for both distances.
using Neighbor = std::pair<double, int64_t>;

void keep_best(std::vector<Neighbor>& candidates, int64_t count) {
  if (static_cast<int64_t>(candidates.size()) <= count) return;
  std::nth_element(candidates.begin(), candidates.begin() + count, candidates.end());
  candidates.resize(static_cast<size_t>(count));
}

}  // namespace

double exact_cost(const float* query, const float* row, int64_t dim, bool l2) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const double difference = static_cast<double>(query[i]) - row[i];
    sum += l2 ? difference * difference : -static_cast<double>(query[i]) * row[i];
  }
  return sum;
}

IdMatrix exact_neighbours(const FloatMatrix& base, const FloatMatrix& query, bool l2, int64_t k,
                          const OnProgress& on_progress) {
  require(k >= 1 && k <= base.rows, StatusCode::bad_argument, "k is {} (allowed: 1 to {})", k,
          base.rows);
  require(base.dim == query.dim, StatusCode::bad_argument, "query dimension {} (allowed: {})",
          query.dim, base.dim);
  const int64_t wanted = std::min(k + kSurplus, base.rows);
  std::vector<std::vector<Neighbor>> candidates(static_cast<size_t>(query.rows));
  std::vector<float> scores;
  std::vector<int64_t> ids;
  for (int64_t first = 0; first < base.rows; first += kBlockRows) {
    const int64_t count = std::min(kBlockRows, base.rows - first);
    const int64_t found = std::min(wanted, count);
    scores.resize(static_cast<size_t>(query.rows * found));
    ids.resize(scores.size());
    const auto dim = static_cast<size_t>(base.dim);
    const auto nq = static_cast<size_t>(query.rows);
    const auto nb = static_cast<size_t>(count);
    const auto top = static_cast<size_t>(found);
    if (l2) {
      ::faiss::float_maxheap_array_t heap = {nq, top, ids.data(), scores.data()};
      ::faiss::knn_L2sqr(query.values.data(), base.row(first), dim, nq, nb, &heap);
    } else {
      ::faiss::float_minheap_array_t heap = {nq, top, ids.data(), scores.data()};
      ::faiss::knn_inner_product(query.values.data(), base.row(first), dim, nq, nb, &heap);
    }
    for (int64_t q = 0; q < query.rows; ++q) {
      std::vector<Neighbor>& best = candidates[static_cast<size_t>(q)];
      for (int64_t i = 0; i < found; ++i) {
        const auto at = static_cast<size_t>(q * found + i);
        if (ids[at] < 0) continue;
        const double score = scores[at];
        best.emplace_back(l2 ? score : -score, first + ids[at]);
      }
      keep_best(best, wanted);
    }
    if (on_progress) on_progress(first + count, base.rows);
  }

  IdMatrix truth{.rows = query.rows, .k = k, .values = {}, .rows_in_source = query.rows};
  truth.values.resize(static_cast<size_t>(query.rows * k));
  parallel_for(query.rows, thread_count(0, query.rows), [&](int64_t q, int) {
    std::vector<Neighbor>& best = candidates[static_cast<size_t>(q)];
    for (Neighbor& candidate : best) {
      candidate.first = exact_cost(query.row(q), base.row(candidate.second), base.dim, l2);
    }
    std::sort(best.begin(), best.end());
    for (int64_t i = 0; i < k; ++i) truth.row(q)[i] = best[static_cast<size_t>(i)].second;
  });
  return truth;
}

}  // namespace polarquant::bench
