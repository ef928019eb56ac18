// SPDX-License-Identifier: MIT
#include "bench/cuda/built_index.h"

#include <algorithm>
#include <vector>

namespace polarquant::bench {
namespace {

constexpr int64_t kRowsAtOnce = 1 << 17;
/// Rows that centroids are trained on, for each: as FAISS wants at the least.
constexpr int64_t kTrainingRowsPerList = 40;

}  // namespace

void add_rows(polar_index* index, int dim, int64_t first, int64_t count,
              const SyntheticRows& synthetic) {
  std::vector<float> x(static_cast<size_t>(std::min(count, kRowsAtOnce)) *
                       static_cast<size_t>(dim));
  for (const int64_t end = first + count; first < end; first += kRowsAtOnce) {
    const int64_t some = std::min(kRowsAtOnce, end - first);
    synthetic.fill(first, some, x.data());
    check(polar_index_add(index, some, x.data(), nullptr));
  }
}

IndexHandle build_index(const std::string& description, const IndexSize& size,
                        const SyntheticRows& synthetic) {
  IndexHandle index = make_index(description, size.dim);
  const int64_t sample =
      std::min(size.rows, std::max(kRowsAtOnce, kTrainingRowsPerList * size.lists));
  std::vector<float> x(static_cast<size_t>(sample) * static_cast<size_t>(size.dim));
  synthetic.fill(0, sample, x.data());
  check(polar_index_train(index.get(), sample, x.data(), nullptr));
  add_rows(index.get(), size.dim, 0, size.rows, synthetic);
  return index;
}

}  // namespace polarquant::bench
