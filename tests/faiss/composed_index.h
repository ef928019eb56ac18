// SPDX-License-Identifier: MIT
// Indexes of factory strings with rows in them, under ids of their own where they have an id map.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "tests/faiss/clustered_rows.h"

namespace polarquant::test {

inline constexpr int kDim = 64;
inline constexpr int64_t kRows = 1500;
inline constexpr int64_t kQueries = 40;
inline constexpr int64_t kK = 10;
inline constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
inline constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

inline const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
inline const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(kQueries, kDim, 2);
  return values;
}

inline int64_t id_of(int64_t row) { return 100 + 3 * row; }

inline bool has_id_map(const std::string& description) {
  return description.find("IDMap") != std::string::npos;
}

inline void add_rows(::faiss::Index& index, const std::string& description) {
  if (!has_id_map(description)) {
    index.add(kRows, rows().data());
    return;
  }
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = id_of(i);
  index.add_with_ids(kRows, rows().data(), ids.data());
}

inline std::unique_ptr<::faiss::Index> build_full(const std::string& description,
                                                  ::faiss::MetricType metric) {
  std::unique_ptr<::faiss::Index> index = polarquant::index_factory(kDim, description, metric);
  index->train(kRows, rows().data());
  add_rows(*index, description);
  return index;
}

}  // namespace polarquant::test
