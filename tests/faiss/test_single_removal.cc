// SPDX-License-Identifier: MIT
// Rows that go from HNSW graphs one by one, and rows that are updated one by one: only links near
// them change, and the graph stays whole.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/impl/IDSelector.h>

#include <map>
#include <optional>
#include <vector>

#include "src/core/call_threads.h"
#include "src/core/random.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "tests/faiss/checked_graph.h"

namespace polarquant::test {
namespace {

using namespace graphs;  // NOLINT: its graph and sizes are what these tests are of

HNSWOverPolar& over_polar(CheckedGraph& graph) {
  return dynamic_cast<HNSWOverPolar&>(*graph.index);
}

/// The counts that are kept up are those of a pass over all links. One thread links the rows of
/// these tests, to the same graph each time: in some graphs the last change passes over all links,
/// after which there are no counts.
void check_counts(const HNSWOverPolar& graph) {
  REQUIRE(graph.incoming_links.has_counts_of(graph.hnsw.levels.size()));
  IncomingLinks counted;
  counted.find(graph.hnsw);
  for (int32_t row = 0; row < graph.ntotal; ++row) {
    INFO("row: " << row);
    REQUIRE(graph.incoming_links.count(row) == counted.count(row));
  }
}

/// Takes a row out; false where a pass over all links is needed.
bool take_out(CheckedGraph& graph, int64_t row) {
  const std::optional<idx_t> heir = over_polar(graph).remove_row(row);
  if (!heir) return false;
  const auto at = [&](int64_t i) { return graph.rows.begin() + i * kDim; };
  std::copy(at(*heir), at(*heir + 1), at(row));
  std::copy(graph.rows.end() - kDim, graph.rows.end(), at(*heir));
  graph.rows.resize(graph.rows.size() - kDim);
  return true;
}

TEST_CASE("Single rows go from a graph, and it stays whole", "[faiss][graph]") {
  const std::string description =
      GENERATE("HNSW16,Polar4", "HNSW4,Polar4", "HNSW32,Polar4-norot", "HNSW16x,Polar8");
  CAPTURE(description);
  const CallThreads one_thread(1);
  CheckedGraph graph(description, clustered_rows(kRows, kDim, 1));
  Random random(5);
  int passes = 0;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 250; ++i)
      if (!take_out(graph, random.below(graph.ntotal()))) ++passes;
    check_counts(over_polar(graph));
    if (description != "HNSW4,Polar4") graph.check_whole();
    graph.check_links();
    graph.add(clustered_rows(3, kDim, 90 + static_cast<uint64_t>(round)));
    check_counts(over_polar(graph));
    graph.add(clustered_rows(200, kDim, 190 + static_cast<uint64_t>(round)));
  }
  CHECK(passes < 6 * 250 / 10);
}

TEST_CASE("No single row that goes takes others along", "[faiss][graph]") {
  // Full lists, of which links go by way of others.
  const std::string description = GENERATE("HNSW8,Polar4", "HNSW3,Polar4", "HNSW2,Polar4");
  const auto seed = static_cast<uint64_t>(GENERATE(1, 2, 3, 4, 5, 6));
  CAPTURE(description, seed);
  const CallThreads one_thread(1);
  CheckedGraph graph(description, clustered_rows(300, kDim, seed));
  Random random(seed);
  // With so few links rows that come may cut others off.
  const bool is_whole = count_unreachable(graph.hnsw()) == 0;
  int64_t removed = 0;
  for (int i = 0; i < 280; ++i) {
    const int64_t unreachable = count_unreachable(graph.hnsw());
    removed += take_out(graph, random.below(graph.ntotal())) ? 1 : 0;
    REQUIRE(count_unreachable(graph.hnsw()) <= unreachable);
  }
  CHECK(removed > 200);
  check_counts(over_polar(graph));
  if (is_whole) graph.check_whole();
}

TEST_CASE("Single equal rows go from a graph", "[faiss][graph]") {
  std::vector<float> x = clustered_rows(600, kDim, 7);
  for (int64_t i = 0; i < 300; ++i) std::copy_n(x.data(), kDim, x.data() + 2 * i * kDim);
  const CallThreads one_thread(1);
  CheckedGraph graph("HNSW8,Polar4", x);
  Random random(8);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i) take_out(graph, random.below(graph.ntotal()));
    check_counts(over_polar(graph));
    graph.check_whole();
    graph.add(std::vector<float>(x.begin(), x.begin() + 30 * kDim));
    graph.check_whole();
  }
}

TEST_CASE("Single rows of a graph are updated in place", "[faiss][graph]") {
  const CallThreads one_thread(1);
  CheckedGraph graph("HNSW16,Polar4", clustered_rows(kRows, kDim, 1));
  Random random(9);
  const std::vector<float> x = clustered_rows(400, kDim, 70);
  for (int64_t i = 0; i < 400; ++i) {
    const idx_t row = random.below(kRows);
    const auto from = x.begin() + i * kDim;
    update_vectors(*graph.index, 1, &row, &*from);
    std::copy_n(from, kDim, graph.rows.begin() + row * kDim);
  }
  check_counts(over_polar(graph));
  graph.check_whole();
  const CheckedGraph fresh("HNSW16,Polar4", graph.rows);
  CHECK(graph.recall_of(20) >= fresh.recall_of(20) - .02);
  // Many at once pass over all links, and counts begin anew.
  const std::vector<idx_t> rows = {3, 5, 9, 3};
  update_vectors(*graph.index, 4, rows.data(), x.data());
  for (int64_t i = 0; i < 4; ++i)
    std::copy_n(x.begin() + i * kDim, kDim,
                graph.rows.begin() + rows[static_cast<size_t>(i)] * kDim);
  graph.check_whole();
  take_out(graph, 7);
  check_counts(over_polar(graph));
}

TEST_CASE("Ids of single rows that go and come are those of their rows", "[faiss][graph]") {
  const std::string description =
      GENERATE("IDMap2,HNSW16,Polar4", "IDMap,HNSW16,Polar4", "IDMap2,PCA40,HNSW16,Polar4");
  CAPTURE(description);
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  auto map = index_factory(kDim, description, ::faiss::METRIC_L2);
  map->train(kRows, x.data());
  std::map<idx_t, int64_t> row_of_id;
  const auto add = [&](idx_t id, int64_t row) {
    map->add_with_ids(1, x.data() + row * kDim, &id);
    row_of_id[id] = row;
  };
  Random random(10);
  for (int64_t row = 0; row < 800; ++row) add(3 * row + 5, row);
  for (int i = 0; i < 900; ++i) {
    const auto gone = std::next(row_of_id.begin(), random.below(std::ssize(row_of_id)));
    const idx_t id = gone->first;
    const ::faiss::IDSelectorArray sel(1, &id);
    REQUIRE(remove_rows(*map, sel) == 1);
    row_of_id.erase(gone);
    REQUIRE(remove_rows(*map, sel) == 0);
    REQUIRE(map->ntotal == std::ssize(row_of_id));
    if (i % 2 == 0) add(5000 + i, random.below(kRows));
  }
  ::faiss::SearchParametersHNSW wide;
  wide.efSearch = 1000;
  std::vector<float> one(kDim);
  int lost = 0;
  for (const auto& [id, row] : row_of_id) {
    const std::vector<float> query(x.begin() + row * kDim, x.begin() + (row + 1) * kDim);
    const Found found = find(*map, query, 1);
    // Of equal rows any may come.
    const auto same = row_of_id.find(found.labels[0]);
    REQUIRE(same != row_of_id.end());
    if (same->second != row) ++lost;
  }
  CHECK(lost < 20);
  CHECK(find(*clone_index(*map), x, 3) == find(*map, x, 3));
}

}  // namespace
}  // namespace polarquant::test
