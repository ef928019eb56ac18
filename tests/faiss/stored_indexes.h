// SPDX-License-Identifier: MIT
// Indexes to be written and read, and how two are compared.
#pragma once

#include <faiss/Index.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "tests/faiss/clustered_rows.h"

namespace polarquant::test {

struct StoredCase {
  const char* description;
  int dim;
  int64_t rows;
  bool with_ids = false;
  bool untrained = false;  // where it can be: few rows are floats then
};

/// So that few rows have codes: untrained, an index has them as floats.
inline void train_on_rows(::faiss::Index& index, int64_t rows) {
  if (rows > 0) index.train(rows, clustered_rows(rows, index.d, 7).data());
}

/// FAISS's graph over an index of ours.
inline std::unique_ptr<::faiss::Index> make_graph(const char* spec, int dim, int64_t rows,
                                                  ::faiss::MetricType metric) {
  auto storage = std::make_unique<IndexPolar>(dim, spec, metric);
  train_on_rows(*storage, rows);
  auto index = std::make_unique<::faiss::IndexHNSW>(storage.get(), 8);
  index->own_fields = true;
  (void)storage.release();
  index->hnsw.efSearch = 33;
  index->add(rows, clustered_rows(rows, dim, 7).data());
  return index;
}

/// A graph without rows, or one whose links FAISS did not choose: from each row to those 1, 2, 4, …
/// after it. What FAISS builds depends on its release.
inline std::unique_ptr<::faiss::Index> make_nsg(const char* spec, int dim, int64_t rows,
                                                ::faiss::MetricType metric) {
  constexpr int kLinks = 8;
  auto index = index_factory(dim, "NSG" + std::to_string(kLinks) + "," + spec, metric);
  auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
  graph.nsg.search_L = 33;
  if (rows == 0) return index;
  train_on_rows(*index, rows);
  graph.storage->add(rows, clustered_rows(rows, dim, 7).data());
  const auto n = static_cast<int>(rows);
  graph.ntotal = graph.nsg.ntotal = n;
  graph.is_built = graph.nsg.is_built = true;
  graph.nsg.enterpoint = n / 2;
  graph.nsg.final_graph = std::make_shared<::faiss::nsg::Graph<int>>(n, kLinks);
  for (int row = 0; row < n; ++row) {
    for (int link = 0; link < kLinks; ++link) {
      const int step = 1 << link;
      graph.nsg.final_graph->at(row, link) = step < n ? (row + step) % n : -1;
    }
  }
  return index;
}

/// Links between rows that `graph`'s storage holds, which FAISS did not choose: every eighth row is
/// on a second level, and on each level a row has links to those 1, 2, 4, … after it. What FAISS
/// builds depends on its release, its levels' shares on the machine.
inline void link_hnsw(::faiss::IndexHNSW& graph) {
  constexpr int kLinks = 4;  // on the second level; twice as many on the first
  ::faiss::HNSW& hnsw = graph.hnsw;
  const auto n = static_cast<int>(graph.storage->ntotal);
  hnsw.assign_probas = {.875, .125};
  hnsw.cum_nneighbor_per_level = {0, 2 * kLinks, 3 * kLinks};
  hnsw.levels.clear();
  hnsw.offsets = {0};
  for (int row = 0; row < n; ++row) {
    hnsw.levels.push_back(row % 8 == 0 ? 2 : 1);
    const int links = hnsw.cum_nneighbor_per_level[static_cast<size_t>(hnsw.levels.back())];
    hnsw.offsets.push_back(hnsw.offsets.back() + static_cast<size_t>(links));
  }
  hnsw.neighbors.resize(hnsw.offsets.back());
  for (int level = 0; level < 2; ++level) {
    const int stride = level == 0 ? 1 : 8;
    const int on_level = (n + stride - 1) / stride;
    for (int i = 0; i < on_level; ++i) {
      size_t begin = 0;
      size_t end = 0;
      hnsw.neighbor_range(i * stride, level, &begin, &end);
      for (size_t at = begin; at < end; ++at) {
        const int step = 1 << (at - begin);
        hnsw.neighbors[at] = step < on_level ? (i + step) % on_level * stride : -1;
      }
    }
  }
  hnsw.entry_point = 0;
  hnsw.max_level = 1;
  hnsw.efSearch = 33;
  graph.ntotal = n;
}

/// Ids of rows: not positions, and not rising.
inline std::vector<int64_t> scattered_ids(int64_t rows) {
  std::vector<int64_t> ids;
  for (int64_t row = 0; row < rows; ++row) ids.push_back((rows - row) * 7 + 100'000'000'000);
  return ids;
}

inline void train_and_add(::faiss::Index& index, const StoredCase& made) {
  const std::vector<float> x = clustered_rows(made.rows, made.dim, 7);
  if (!made.untrained) train_on_rows(index, made.rows);
  if (made.with_ids) {
    index.add_with_ids(made.rows, x.data(), scattered_ids(made.rows).data());
  } else {
    index.add(made.rows, x.data());
  }
}

inline std::unique_ptr<::faiss::Index> make_stored(const StoredCase& made,
                                                   ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  train_and_add(*index, made);
  return index;
}

inline std::vector<uint8_t> written(const ::faiss::Index& index) {
  std::vector<uint8_t> bytes;
  write_index(index, [&](const void* data, size_t count) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + count);
  });
  return bytes;
}

/// Reads from memory, `piece` bytes at a time.
inline std::unique_ptr<::faiss::Index> read_from(const std::vector<uint8_t>& bytes,
                                                 const ReadOptions& options = {},
                                                 size_t piece = 1 << 20) {
  size_t position = 0;
  return read_index(
      [&](void* data, size_t count) {
        const size_t taken = std::min({count, piece, bytes.size() - position});
        if (taken > 0) std::memcpy(data, bytes.data() + position, taken);
        position += taken;
        return taken;
      },
      options);
}

}  // namespace polarquant::test
