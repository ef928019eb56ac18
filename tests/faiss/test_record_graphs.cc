// SPDX-License-Identifier: MIT
// HNSW graphs whose rows lie in records with their links ("HNSW8x"): what they find, that records
// follow every change, and what is refused.
#include <faiss/IndexHNSW.h>
#include <faiss/impl/FaissException.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/call_threads.h"
#include "src/core/random.h"
#include "src/core/threads.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/scan/stores/row_store.h"
#include "tests/faiss/checked_graph.h"

namespace polarquant::test {
namespace {

using namespace graphs;  // NOLINT: its graph and sizes are what these tests are of

const HNSWOverPolar& graph_of(const ::faiss::Index& index) {
  return dynamic_cast<const HNSWOverPolar&>(index);
}

/// Records are those of a graph that is read from a file, whose records are all written anew.
void check_records(const ::faiss::Index& index) {
  REQUIRE(graph_of(index).has_records());
  REQUIRE(graph_of(index).rows().codes().records_are_written());
  const auto fresh = clone_index(index);
  const RowStore& rows = graph_of(index).rows().codes();
  const RowStore& others = graph_of(*fresh).rows().codes();
  REQUIRE(rows.rows() == others.rows());
  for (int64_t row = 0; row < rows.rows(); ++row) {
    CAPTURE(row);
    const auto found = rows.record(row);
    const auto expected = others.record(row);
    REQUIRE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
  }
}

TEST_CASE("A graph in records finds what a flat search of its codes does, with its scores",
          "[faiss][graph]") {
  const std::string spec = GENERATE("Polar1", "Polar2", "Polar3.5", "Polar4-dense", "Polar8");
  const ::faiss::MetricType metric = GENERATE(::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2);
  const std::string links = GENERATE("HNSW8x,", "HNSW16x,");
  CAPTURE(spec, static_cast<int>(metric), links);
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  const auto filled = [&](const std::string& description) {
    auto index = index_factory(kDim, description, metric);
    index->train(kRows, x.data());
    index->add(kRows, x.data());
    return index;
  };
  const auto flat = filled(spec);
  const auto index = filled(links + spec);
  check_records(*index);
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  const std::vector<float> queries = clustered_rows(50, kDim, 2);
  const Found expected = find(*flat, queries, kK, &exact);
  ::faiss::SearchParametersHNSW wide;
  wide.efSearch = 300;
  const Found found = find(*index, queries, kK, &wide);
  CHECK(recall(found, expected, kK) > .95);
  const std::unique_ptr<::faiss::DistanceComputer> computer(flat->get_distance_computer());
  for (size_t i = 0; i < found.labels.size(); ++i) {
    if (i % kK == 0) computer->set_query(queries.data() + i / kK * kDim);
    REQUIRE(found.labels[i] >= 0);
    REQUIRE(found.distances[i] == (*computer)(found.labels[i]));
  }
  // All nodes kept are all rows; the best by values are scored.
  wide.efSearch = kRows;
  CHECK(recall(find(*index, queries, kK, &wide), expected, kK) > .98);
  const int before = default_threads();
  set_default_threads(3);
  CHECK(find(*index, queries, kK, &wide).labels == find(*index, queries, kK, &wide).labels);
  set_default_threads(before);
}

TEST_CASE("Queries of a batch find in records what each finds alone", "[faiss][graph]") {
  const std::string description = GENERATE("HNSW8x,Polar8", "HNSW20x,Polar2");
  const bool by_distance = GENERATE(true, false);
  CAPTURE(description, by_distance);
  const auto index = index_factory(kDim, description, ::faiss::METRIC_INNER_PRODUCT);
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  index->train(kRows, x.data());
  index->add(kRows, x.data());
  ::faiss::SearchParametersHNSW params;
  params.efSearch = 20;
  params.check_relative_distance = by_distance;
  const std::vector<float> queries = clustered_rows(23, kDim, 2);
  Found alone;
  for (size_t query = 0; query < 23; ++query) {
    const auto* first = queries.data() + query * kDim;
    const Found found = find(*index, std::vector<float>(first, first + kDim), kK, &params);
    alone.labels.insert(alone.labels.end(), found.labels.begin(), found.labels.end());
    alone.distances.insert(alone.distances.end(), found.distances.begin(), found.distances.end());
  }
  const int before = default_threads();
  for (const int threads : {1, 2, 3}) {
    set_default_threads(threads);
    for (const size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 23}) {
      CAPTURE(threads, count);
      const Found found = find(
          *index, std::vector<float>(queries.data(), queries.data() + count * kDim), kK, &params);
      CHECK(std::equal(found.labels.begin(), found.labels.end(), alone.labels.begin()));
      CHECK(std::equal(found.distances.begin(), found.distances.end(), alone.distances.begin()));
    }
  }
  set_default_threads(before);
}

TEST_CASE("Records follow adds, removals and updates", "[faiss][graph]") {
  const std::string description = GENERATE("HNSW8x,Polar4", "HNSW12x,Polar8");
  CAPTURE(description);
  const CallThreads one_thread(1);
  auto index = index_factory(kDim, description, ::faiss::METRIC_L2);
  index->train(500, clustered_rows(500, kDim, 1).data());
  check_records(*index);
  index->add(400, clustered_rows(400, kDim, 1).data());
  check_records(*index);
  for (int i = 0; i < 20; ++i) index->add(1, clustered_rows(1, kDim, 30 + i).data());
  check_records(*index);
  auto& graph = dynamic_cast<HNSWOverPolar&>(*index);
  Random random(3);
  int removed = 0;
  for (int i = 0; i < 60; ++i) removed += graph.remove_row(random.below(index->ntotal)) ? 1 : 0;
  CHECK(removed > 40);
  check_records(*index);
  for (int i = 0; i < 30; ++i) {
    const idx_t row = random.below(index->ntotal);
    update_vectors(*index, 1, &row, clustered_rows(1, kDim, 60 + i).data());
  }
  check_records(*index);
  const std::vector<idx_t> rows = {3, 50, 7};
  update_vectors(*index, 3, rows.data(), clustered_rows(3, kDim, 99).data());
  check_records(*index);
  const ::faiss::IDSelectorRange first(0, 100);
  CHECK(index->remove_ids(first) == 100);
  check_records(*index);
  // A change that is refused leaves them.
  std::vector<float> bad(kDim, std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS(index->add(1, bad.data()));
  check_records(*index);
  index->reset();
  CHECK(index->ntotal == 0);
  index->add(300, clustered_rows(300, kDim, 8).data());
  check_records(*index);
}

TEST_CASE("Rows that are held as floats get records when they are coded", "[faiss][graph]") {
  auto index = index_factory(kDim, "HNSW8x,Polar4", ::faiss::METRIC_INNER_PRODUCT);
  const std::vector<float> x = clustered_rows(kRows, kDim, 1);
  index->add(100, x.data());
  CHECK_FALSE(graph_of(*index).rows().codes().records_are_written());
  CHECK(find(*index, x, 1).labels.size() == static_cast<size_t>(kRows));
  const bool trains = GENERATE(false, true);
  if (trains) {
    index->train(kRows, x.data());
    CHECK(index->ntotal == 100);
  } else {
    index->add(kRows - 100, x.data() + 100 * kDim);
  }
  check_records(*index);
}

TEST_CASE("Records of equal rows", "[faiss][graph]") {
  std::vector<float> x = clustered_rows(200, kDim, 1);
  for (int64_t i = 0; i < 200; i += 2)
    std::copy_n(x.begin(), kDim, x.begin() + static_cast<ptrdiff_t>(i * kDim));
  CheckedGraph graph("HNSW4x,Polar4", x);
  check_records(*graph.index);
  graph.check_whole();
}

TEST_CASE("Places where a graph cannot be in records are refused", "[faiss][factory]") {
  for (const char* description :
       {"HNSW8x", "HNSW8x,Flat", "HNSW8x,SQ8", "IVF4_HNSW8x,Polar4", "HNSW8x,Polar2-pca",
        "HNSW8x,Polar4+2", "HNSW8x,PolarTree4.2.2.2", "HNSW8x,PolarPair4x4g128", "HNSW1x,Polar4",
        "IVF70(HNSW8,Polar4),Polar4,Refine(HNSW8x,Polar8)", "HNSW8xx,Polar4", "NSG8x,Polar4"}) {
    CAPTURE(description);
    CHECK_THROWS_AS(index_factory(kDim, description), ::faiss::FaissException);
  }
  for (const char* description : {"HNSW8x,Polar4", "IDMap2,HNSW8x,Polar4", "PCA16,HNSW5x,Polar2",
                                  "HNSW8x,Polar2,RFlat", "IVF4(HNSW8x,Polar8),Polar4"}) {
    CAPTURE(description);
    const auto index = index_factory(kDim, description);
    CHECK(reverse_index_factory(*index) == description);
  }
  CHECK(reverse_index_factory(*index_factory(kDim, "HNSW8x_Polar4")) == "HNSW8x,Polar4");
}

}  // namespace
}  // namespace polarquant::test
