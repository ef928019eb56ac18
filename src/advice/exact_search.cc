// SPDX-License-Identifier: MIT
#include "src/advice/exact_search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/scan/search/query_tasks.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// Queries that share a tile of rows.
constexpr int64_t kTaskQueries = 16;
/// Rows of a tile stay in the cache while the queries pass.
constexpr int64_t kTileBytes = 64 * 1024;

/// Cost, less is nearer, then id.
using Neighbour = std::pair<double, int64_t>;

/// The k nearest so far: a heap whose first is the farthest of them.
class Nearest {
 public:
  explicit Nearest(int64_t k) : k_(static_cast<size_t>(k)) {}

  void push(const Neighbour& neighbour) {
    if (heap_.size() == k_) {
      if (!(neighbour < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = neighbour;
    } else {
      heap_.push_back(neighbour);
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  void write(int64_t* ids) {
    std::sort(heap_.begin(), heap_.end());
    for (const Neighbour& neighbour : heap_) *ids++ = neighbour.second;
  }

 private:
  size_t k_;
  std::vector<Neighbour> heap_;
};

}  // namespace

double exact_cost(Metric metric, int dim, const float* query, const float* row) {
  const auto dot = simd_codec_kernels().dot_exact;
  const double product = dot(query, row, dim);
  // ‖q−x‖² without ‖q‖², which is the same for all rows.
  return metric == Metric::l2 ? dot(row, row, dim) - 2 * product : -product;
}

void exact_search(const RowsAndQueries& vectors, int64_t k, int threads,
                  const std::function<void(int64_t queries)>& advance, int64_t* ids) {
  const int dim = vectors.dim;
  const int64_t n = vectors.n;
  const float* const x = vectors.x;
  require(k >= 1 && k <= n, StatusCode::bad_argument, "k: {} is not allowed; 1 to {} rows", k, n);
  const auto dot = simd_codec_kernels().dot_exact;
  const bool l2 = vectors.metric == Metric::l2;
  std::vector<double> norms2(l2 ? static_cast<size_t>(n) : 0);
  for (size_t row = 0; row < norms2.size(); ++row) {
    const float* values = x + static_cast<int64_t>(row) * dim;
    norms2[row] = dot(values, values, dim);
  }
  // exact_cost with squares that are known.
  const auto cost = [&](const float* query, int64_t row) {
    const double product = dot(query, x + row * dim, dim);
    return l2 ? norms2[static_cast<size_t>(row)] - 2 * product : -product;
  };
  const int64_t tile_rows =
      std::max<int64_t>(1, kTileBytes / (int64_t{dim} * int64_t{sizeof(float)}));
  const int64_t tasks = div_up(vectors.nq, kTaskQueries);
  parallel_for(tasks, thread_count(threads, tasks), [&](int64_t task, int) {
    const int64_t first = task * kTaskQueries;
    const int64_t end = std::min(vectors.nq, first + kTaskQueries);
    std::vector<Nearest> nearest(static_cast<size_t>(end - first), Nearest(k));
    for (int64_t tile = 0; tile < n; tile += tile_rows) {
      for (int64_t q = first; q < end; ++q) {
        Nearest& own = nearest[static_cast<size_t>(q - first)];
        for (int64_t row = tile; row < std::min(n, tile + tile_rows); ++row)
          own.push({cost(vectors.queries + q * dim, row), row});
      }
    }
    for (int64_t q = first; q < end; ++q)
      nearest[static_cast<size_t>(q - first)].write(ids + q * k);
    if (advance) advance(end - first);
  });
}

}  // namespace polarquant
