// SPDX-License-Identifier: MIT
// Indexes of few rows of 16 dimensions, trained and searched through the C ABI.
#pragma once

#include <vector>

#include "tests/capi/capi_support.h"

namespace polarquant::test {

inline constexpr int32_t kDim = 16;
inline constexpr int64_t kRows = 400;

struct Results {
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Results&) const = default;
};

inline Results search(const IndexHandle& index, int64_t nq, const float* queries, int64_t k,
                      int32_t num_threads = 0) {
  Results results;
  results.scores.assign(static_cast<size_t>(nq * k), kNan);
  results.ids.assign(static_cast<size_t>(nq * k), -7);
  const polar_search_options options = searching_on(num_threads);
  require_ok(polar_index_search(index.get(), nq, queries, k, &options, results.scores.data(),
                                results.ids.data()));
  return results;
}

inline IndexHandle trained_index(const char* description, polar_metric metric,
                                 const std::vector<float>& x) {
  IndexHandle index = make_index(description, kDim, metric);
  require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
  CHECK(polar_index_is_trained(index.get()) == 1);
  return index;
}

}  // namespace polarquant::test
