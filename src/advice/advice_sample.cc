// SPDX-License-Identifier: MIT
#include "src/advice/advice_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "src/codec/dot.h"
#include "src/codec/plan_training.h"
#include "src/core/checked_size.h"
#include "src/core/random.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant {
namespace {

constexpr int64_t kHeldOutShare = 10;
constexpr int64_t kLeastTrainingLimit = 10000;
// Streams of the seed.
constexpr uint64_t kRowStream = 2000;
constexpr uint64_t kQueryStream = 2001;

/// `count` different numbers of 0 … n−1, in random order.
std::vector<int64_t> draw(int64_t n, int64_t count, uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  std::vector<int64_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  for (int64_t i = 0; i < count; ++i) {
    const auto other = i + static_cast<int64_t>(random.below(static_cast<uint64_t>(n - i)));
    std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(other)]);
  }
  rows.resize(static_cast<size_t>(count));
  return rows;
}

std::vector<float> gather(Metric metric, int dim, const float* x, std::span<const int64_t> rows) {
  std::vector<float> out(checked_mul(rows.size(), dim, "rows of the sample"));
  float* to = out.data();
  for (const int64_t row : rows) {
    const float* from = x + row * dim;
    const double norm = metric == Metric::cosine ? std::sqrt(dot_exact(from, from, dim)) : 0;
    for (int j = 0; j < dim; ++j) to[j] = norm > 0 ? static_cast<float>(from[j] / norm) : from[j];
    to += dim;
  }
  return out;
}

}  // namespace

AdviceSample split_sample(const RowsAndQueries& vectors, const AdviceSampleOptions& options) {
  const int dim = vectors.dim;
  const int64_t n = vectors.n;
  const int64_t nq = vectors.nq;
  const bool hold_out = nq == 0;
  require(hold_out || nq >= kLeastQueries, StatusCode::bad_argument,
          "nq: {} queries are not allowed; {} or more, or 0: rows of the sample are held out", nq,
          kLeastQueries);
  const int64_t held_out =
      hold_out ? std::clamp<int64_t>(n / kHeldOutShare, kLeastQueries, options.max_queries) : 0;
  const int64_t searched = 2 * kLeastRowsPerNeighbour * options.k;
  const int64_t least =
      searched + (hold_out ? std::max(kLeastQueries, div_up(searched, kHeldOutShare - 1)) : 0);
  require(n >= least, StatusCode::bad_argument,
          "n: {} rows are too few for k = {}; {} or more: for each neighbour {} to search and as "
          "many to train on{}",
          n, options.k, least, kLeastRowsPerNeighbour, hold_out ? ", a tenth as queries" : "");

  const int64_t left = n - held_out;
  const int64_t train_rows =
      std::min(left / 2, std::max(2 * kGoodRowsPerDim * dim, kLeastTrainingLimit));
  const int64_t base_rows = std::min(left - train_rows, options.max_rows);
  const std::vector<int64_t> rows =
      draw(n, held_out + train_rows + base_rows, options.seed, kRowStream);
  const std::span<const int64_t> all(rows);
  const auto part = [&](int64_t first, int64_t count) {
    return gather(vectors.metric, dim, vectors.x,
                  all.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
  };
  AdviceSample sample;
  sample.dim = dim;
  sample.held_out_queries = hold_out;
  sample.queries =
      hold_out ? part(0, held_out)
               : gather(vectors.metric, dim, vectors.queries,
                        draw(nq, std::min(nq, options.max_queries), options.seed, kQueryStream));
  sample.train = part(held_out, train_rows);
  sample.base = part(held_out + train_rows, base_rows);
  return sample;
}

}  // namespace polarquant
