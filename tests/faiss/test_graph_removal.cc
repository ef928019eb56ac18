// SPDX-License-Identifier: MIT
// Rows that go from HNSW graphs: no link leads to them, every row that is left is found, and
// recall stays.
#include <faiss/IndexHNSW.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/random.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/row_changes.h"
#include "tests/faiss/checked_graph.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

using namespace graphs;  // NOLINT: its graph and sizes are what these tests are of

std::vector<bool> some_of(int64_t rows, double share, uint64_t seed) {
  Random random(seed);
  std::vector<bool> gone;
  for (int64_t row = 0; row < rows; ++row)
    gone.push_back(static_cast<double>(random.below(1000)) < 1000 * share);
  return gone;
}

TEST_CASE("Rows go from a graph, and what is left is whole", "[faiss][graph]") {
  const std::string description =
      GENERATE("HNSW16,Polar4", "HNSW4,Polar4", "HNSW16,Flat", "HNSW16x,Polar4");
  const double share = GENERATE(.001, .3, .97);
  CAPTURE(description, share);
  CheckedGraph graph(description, clustered_rows(kRows, kDim, 1));
  for (uint64_t round = 0; round < 3; ++round) {
    graph.remove(some_of(graph.ntotal(), share, round));
    graph.check_whole();
    graph.add(clustered_rows(300, kDim, 50 + round));
    // With few links what comes may cut others off, until the next removal.
    graph.check_links();
    if (description != "HNSW4,Polar4") graph.check_whole();
  }
}

TEST_CASE("A graph of which rows go and come has the recall of a new one", "[faiss][graph]") {
  CheckedGraph graph("HNSW16,Polar4", clustered_rows(kRows, kDim, 1));
  for (uint64_t round = 0; round < 5; ++round) {
    graph.remove(some_of(graph.ntotal(), .1, round));
    graph.add(clustered_rows(kRows - graph.ntotal(), kDim, 50 + round));
  }
  graph.check_whole();
  const CheckedGraph fresh("HNSW16,Polar4", graph.rows);
  CHECK(graph.recall_of(20) >= fresh.recall_of(20) - .02);
}

TEST_CASE("Rows of a graph are updated in place", "[faiss][graph]") {
  CheckedGraph graph("HNSW16,Polar4", clustered_rows(kRows, kDim, 1));
  for (uint64_t round = 0; round < 4; ++round) {
    const int64_t n = round == 3 ? kRows : 300;
    Random random(round);
    std::vector<idx_t> ids;
    for (int64_t i = 0; i < n; ++i) ids.push_back(random.below(kRows));
    ids[1] = ids[0];  // the last of equal ids counts
    std::vector<float> x = clustered_rows(n, kDim, 70 + round);
    // One stays as it is, another is equal to a third.
    std::copy_n(graph.rows.begin() + ids[2] * kDim, kDim, x.begin() + 2 * kDim);
    std::copy_n(graph.rows.begin() + 5 * kDim, kDim, x.begin() + 3 * kDim);
    update_vectors(*graph.index, n, ids.data(), x.data());
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(x.begin() + i * kDim, kDim,
                  graph.rows.begin() + ids[static_cast<size_t>(i)] * kDim);
    graph.check_whole();
    std::vector<float> stored(kDim);
    graph.index->reconstruct(ids[0], stored.data());
    double error = 0;
    for (size_t i = 0; i < kDim; ++i)
      error += std::pow(stored[i] - graph.rows[static_cast<size_t>(ids[0]) * kDim + i], 2) / kDim;
    CHECK(error < .02);
  }
  const CheckedGraph fresh("HNSW16,Polar4", graph.rows);
  CHECK(graph.recall_of(20) >= fresh.recall_of(20) - .02);
  const idx_t beyond = kRows;
  require_faiss_error("id 2000 is not",
                      [&] { update_vectors(*graph.index, 1, &beyond, graph.rows.data()); });
}

TEST_CASE("Equal rows go from a graph", "[faiss][graph]") {
  // A chain of equal rows stays one, whichever of them go; the first of them, too.
  std::vector<float> x = clustered_rows(kRows, kDim, 7);
  for (int64_t i = 0; i < kRows / 2; ++i) std::copy_n(x.data(), kDim, x.data() + 2 * i * kDim);
  CheckedGraph graph("HNSW8,Polar4", x);
  std::vector<bool> first(kRows);
  first[0] = first[2] = true;
  graph.remove(first);
  graph.check_whole();
  for (uint64_t round = 0; round < 4; ++round) {
    graph.remove(some_of(graph.ntotal(), .4, round));
    graph.check_whole();
    graph.add(std::vector<float>(x.begin(), x.begin() + 100 * kDim));
    graph.check_whole();
  }
}

TEST_CASE("All rows go from a graph, and others come", "[faiss][graph]") {
  CheckedGraph graph("HNSW16,Polar4", clustered_rows(kRows, kDim, 1));
  graph.remove(std::vector<bool>(kRows, true));
  graph.check_whole();
  graph.add(clustered_rows(kRows, kDim, 1));
  graph.check_whole();
  // Down to one row, whichever level it has.
  std::vector<bool> gone(kRows, true);
  gone[77] = false;
  graph.remove(gone);
  graph.check_whole();
}

TEST_CASE("Whole clusters go from a graph", "[faiss][graph]") {
  // Neighbours of neighbours go, too.
  std::vector<float> x = clustered_rows(kRows, kDim, 1);
  CheckedGraph graph("HNSW8,Polar4", x);
  std::vector<bool> gone;
  for (int64_t row = 0; row < kRows; ++row) gone.push_back(x[static_cast<size_t>(row * kDim)] > 0);
  graph.remove(gone);
  graph.check_whole();
  CHECK(graph.recall_of(40) >= CheckedGraph("HNSW8,Polar4", graph.rows).recall_of(40) - .02);
}

TEST_CASE("Rows go from a graph in containers", "[faiss][graph]") {
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  auto map = index_factory(kDim, "IDMap2,HNSW16,Polar4", ::faiss::METRIC_L2);
  std::vector<idx_t> ids(kRows);
  for (idx_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 3 * i + 5;
  map->add_with_ids(kRows, x.data(), ids.data());
  const ::faiss::IDSelectorRange range(3 * 100 + 5, 3 * 900 + 5);
  CHECK(remove_rows(*map, range) == 800);
  const Found found = find(*map, x, 1);
  int lost = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const idx_t id = found.labels[static_cast<size_t>(row)];
    CHECK((id < 305 || id >= 2705));
    if ((row < 100 || row >= 900) && id != 3 * row + 5) ++lost;
  }
  CHECK(lost < 30);  // a walk of 16 nodes does not find all
  std::vector<float> one(kDim);
  map->reconstruct(3 * 1500 + 5, one.data());
  require_faiss_error("", [&] { map->reconstruct(3 * 500 + 5, one.data()); });
}

TEST_CASE("Rows go from both parts of a refinement", "[faiss][refine]") {
  const std::string description =
      GENERATE("Polar2,RFlat", "Polar2,Refine(Polar8)", "HNSW16,Polar2,Refine(Polar8)",
               "PCA40,Polar2,RFlat", "HNSW16,Polar2,RFlat,IDMap2");
  CAPTURE(description);
  const bool has_ids = description.find("IDMap2") != std::string::npos;
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  std::vector<idx_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), has_ids ? 100 : 0);
  auto index = index_factory(kDim, description, ::faiss::METRIC_L2);
  index->train(kRows, x.data());
  has_ids ? index->add_with_ids(kRows, x.data(), ids.data()) : index->add(kRows, x.data());
  const ::faiss::IDSelectorRange range(ids[500], ids[1500]);
  CHECK(remove_rows(*index, range) == 1000);
  CHECK(index->ntotal == 1000);
  // What is left is where it was put, in both parts.
  const Found found = find(*index, std::vector<float>(x.begin() + 1700 * kDim, x.end()), 1);
  int lost = 0;
  for (int64_t row = 1700; row < kRows; ++row)
    if (found.labels[static_cast<size_t>(row - 1700)] !=
        ids[static_cast<size_t>(row)] - (has_ids ? 0 : 1000))
      ++lost;
  CHECK(lost < 10);
}

}  // namespace
}  // namespace polarquant::test
