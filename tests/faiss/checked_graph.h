// SPDX-License-Identifier: MIT
// An index over an HNSW graph beside the rows that it should hold, and checks of its links.
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/row_changes.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test::graphs {

inline constexpr int kDim = 70;
inline constexpr int64_t kRows = 2000;
inline constexpr int64_t kK = 10;

/// The rows of level 0 that no walk from the entry point comes to.
inline int64_t count_unreachable(const ::faiss::HNSW& hnsw) {
  if (hnsw.levels.empty()) return 0;
  std::vector<bool> reached(hnsw.levels.size());
  std::vector<::faiss::HNSW::storage_idx_t> waiting(1, hnsw.entry_point);
  reached[static_cast<size_t>(hnsw.entry_point)] = true;
  int64_t count = 0;
  while (!waiting.empty()) {
    const auto node = waiting.back();
    waiting.pop_back();
    ++count;
    size_t begin = 0;
    size_t end = 0;
    hnsw.neighbor_range(node, 0, &begin, &end);
    for (size_t i = begin; i < end && hnsw.neighbors.data()[i] >= 0; ++i) {
      const auto link = static_cast<size_t>(hnsw.neighbors.data()[i]);
      if (reached[link]) continue;
      reached[link] = true;
      waiting.push_back(static_cast<::faiss::HNSW::storage_idx_t>(link));
    }
  }
  return static_cast<int64_t>(hnsw.levels.size()) - count;
}

/// An index over a graph, and the rows that it should hold, in order.
struct CheckedGraph {
  std::unique_ptr<::faiss::Index> index;
  std::vector<float> rows;

  CheckedGraph(const std::string& description, std::vector<float> x)
      : index(index_factory(kDim, description, ::faiss::METRIC_L2)), rows(std::move(x)) {
    index->train(ntotal(), rows.data());
    add_rows(*index, ntotal(), rows.data(), nullptr);
  }
  int64_t ntotal() const { return std::ssize(rows) / kDim; }
  const ::faiss::HNSW& hnsw() const { return dynamic_cast<const ::faiss::IndexHNSW&>(*index).hnsw; }
  void remove(const std::vector<bool>& gone) {
    std::vector<idx_t> ids;
    std::vector<float> left;
    for (int64_t row = 0; row < ntotal(); ++row) {
      const auto at = rows.begin() + row * kDim;
      if (gone[static_cast<size_t>(row)]) ids.push_back(row);
      if (!gone[static_cast<size_t>(row)]) left.insert(left.end(), at, at + kDim);
    }
    const ::faiss::IDSelectorBatch sel(ids.size(), ids.data());
    CHECK(remove_rows(*index, sel) == ids.size());
    rows = std::move(left);
    CHECK(index->ntotal == ntotal());
  }
  void add(const std::vector<float>& x) {
    add_rows(*index, std::ssize(x) / kDim, x.data(), nullptr);
    rows.insert(rows.end(), x.begin(), x.end());
  }
  /// Links lead to rows that are there, and every row is found when all nodes are kept.
  void check_whole() const {
    REQUIRE(hnsw().levels.size() == static_cast<size_t>(ntotal()));
    CHECK(count_unreachable(hnsw()) == 0);
    check_links();
    ::faiss::SearchParametersHNSW wide;
    wide.efSearch = static_cast<int>(ntotal());
    if (ntotal() == 0) return;
    std::vector<idx_t> all = find(*index, std::vector<float>(kDim), ntotal(), &wide).labels;
    std::sort(all.begin(), all.end());
    std::vector<idx_t> expected(static_cast<size_t>(ntotal()));
    std::iota(expected.begin(), expected.end(), 0);
    CHECK((all == expected));
  }
  void check_links() const {
    for (int64_t row = 0; row < ntotal(); ++row) {
      size_t begin = 0;
      size_t end = 0;
      for (int level = 0; level < hnsw().levels[static_cast<size_t>(row)]; ++level) {
        hnsw().neighbor_range(row, level, &begin, &end);
        for (size_t i = begin; i < end && hnsw().neighbors.data()[i] >= 0; ++i) {
          REQUIRE(hnsw().neighbors.data()[i] < ntotal());
          REQUIRE(hnsw().levels[static_cast<size_t>(hnsw().neighbors.data()[i])] > level);
        }
      }
    }
    // The rules of files, too.
    CHECK(find(*clone_index(*index), queries(), kK) == find(*index, queries(), kK));
  }
  static const std::vector<float>& queries() {
    static const std::vector<float> values = clustered_rows(400, kDim, 2);
    return values;
  }
  double recall_of(int ef) const {
    ::faiss::SearchParametersHNSW wide;
    wide.efSearch = ef;
    return recall(find(*index, queries(), kK, &wide),
                  find_exactly(rows, queries(), kDim, kK, ::faiss::METRIC_L2), kK);
  }
};

}  // namespace polarquant::test::graphs
