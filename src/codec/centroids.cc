// SPDX-License-Identifier: MIT
#include "src/codec/centroids.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "src/codec/codec_kernels.h"
#include "src/codec/dot.h"
#include "src/core/aligned_buffer.h"
#include "src/core/parallel.h"
#include "src/core/random.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"

namespace polarquant {
namespace {

constexpr int kIterations = 20;
/// The stream of the codec's seed that draws the first centroids, and those of empty clusters.
constexpr uint64_t kCentroidStream = 2000;
/// Rows of a task of the plain search.
constexpr int64_t kTaskRows = 16;

class PlainCentroidFinder final : public CentroidFinder {
 public:
  PlainCentroidFinder(int64_t count, int dim, const float* centroids)
      : count_(count), dim_(dim), centroids_(centroids) {}

  void find(int64_t n, const float* x, int threads, int32_t* nearest) const override {
    const int64_t tasks = (n + kTaskRows - 1) / kTaskRows;
    parallel_for(tasks, thread_count(threads, tasks), [&](int64_t task, int) {
      AlignedVector<float> difference(static_cast<size_t>(dim_));
      const int64_t end = std::min(n, (task + 1) * kTaskRows);
      for (int64_t row = task * kTaskRows; row < end; ++row)
        nearest[row] = find_one(x + row * dim_, difference.data());
    });
  }

  void similarities(int64_t n, const float* x, float* out) const override {
    AlignedVector<float> difference(static_cast<size_t>(dim_));
    for (int64_t row = 0; row < n; ++row)
      for (int64_t i = 0; i < count_; ++i)
        *out++ = -distance2(x + row * dim_, i, difference.data());
  }

 private:
  float distance2(const float* x, int64_t i, float* difference) const {
    subtract_multiple(x, 1, centroids_ + i * dim_, dim_, difference);
    return dot_float(difference, difference, dim_);
  }

  int32_t find_one(const float* x, float* difference) const {
    float least = std::numeric_limits<float>::infinity();
    int32_t nearest = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const float distance = distance2(x, i, difference);
      if (distance < least) {
        least = distance;
        nearest = static_cast<int32_t>(i);
      }
    }
    return nearest;
  }

  int64_t count_;
  int dim_;
  const float* centroids_;
};

/// `count` of n numbers, each once, in the order of the draw (Fisher and Yates).
std::vector<int64_t> draw(int64_t n, int count, Random* random) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) {
    const auto other = i + static_cast<int64_t>(random->below(static_cast<uint64_t>(n - i)));
    std::swap(numbers[static_cast<size_t>(i)], numbers[static_cast<size_t>(other)]);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

/// The means of the clusters, sums in the rows' order; those of empty ones are rows drawn anew.
void move_to_means(int64_t n, int dim, const float* x, const std::vector<int32_t>& nearest,
                   Random* random, std::vector<float>* centroids) {
  const auto width = static_cast<size_t>(dim);
  const size_t count = centroids->size() / width;
  std::vector<double> sums(centroids->size());
  std::vector<int64_t> members(count);
  for (int64_t row = 0; row < n; ++row) {
    const auto cluster = static_cast<size_t>(nearest[static_cast<size_t>(row)]);
    add_multiple(1, x + row * dim, dim, &sums[cluster * width]);
    ++members[cluster];
  }
  for (size_t cluster = 0; cluster < count; ++cluster) {
    float* centroid = centroids->data() + cluster * width;
    if (members[cluster] == 0) {
      const auto row = static_cast<int64_t>(random->below(static_cast<uint64_t>(n)));
      std::copy_n(x + row * dim, dim, centroid);
      continue;
    }
    for (size_t j = 0; j < width; ++j)
      centroid[j] =
          static_cast<float>(sums[cluster * width + j] / static_cast<double>(members[cluster]));
  }
}

}  // namespace

std::unique_ptr<CentroidFinder> plain_centroid_finder(int64_t count, int dim,
                                                      const float* centroids) {
  return std::make_unique<PlainCentroidFinder>(count, dim, centroids);
}

Centroids::Centroids(int dim, std::vector<float> rows) : dim_(dim), rows_(std::move(rows)) {
  const size_t count = rows_.size() / static_cast<size_t>(dim);
  for (size_t i = 0; i < count; ++i) {
    const float* row = rows_.data() + i * static_cast<size_t>(dim);
    norms2_.push_back(dot_exact(row, row, dim));
  }
}

double Centroids::most_norm2() const {
  return norms2_.empty() ? 0 : *std::max_element(norms2_.begin(), norms2_.end());
}

std::vector<float> train_centroids(int64_t n, int dim, const float* x, int count, uint64_t seed,
                                   const CodecKernels& kernels) {
  require(n >= kLeastRowsPerCentroid * count, StatusCode::bad_argument,
          "n: {} of the training rows are left to find {} centroids from; at least {} are needed, "
          "and {} or more do well",
          n, count, kLeastRowsPerCentroid * count, kGoodRowsPerCentroid * count);
  Random random(seed, kCentroidStream);
  std::vector<float> centroids;
  centroids.reserve(static_cast<size_t>(count) * static_cast<size_t>(dim));
  for (const int64_t row : draw(n, count, &random))
    centroids.insert(centroids.end(), x + row * dim, x + (row + 1) * dim);
  std::vector<int32_t> nearest(static_cast<size_t>(n));
  std::vector<int32_t> before;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    report_work(static_cast<double>(iteration) / kIterations);
    kernels.make_centroid_finder(count, dim, centroids.data())->find(n, x, 0, nearest.data());
    if (nearest == before) break;
    move_to_means(n, dim, x, nearest, &random, &centroids);
    before = nearest;
  }
  return centroids;
}

}  // namespace polarquant
