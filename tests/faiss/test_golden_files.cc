// SPDX-License-Identifier: MIT
// Index files that are kept with the project (tests/golden): they are read, and written again byte
// for byte, on every machine.
#include <faiss/IndexIVF.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/faiss/stored_indexes.h"

namespace polarquant::test {
namespace {

struct Golden {
  const char* file;
  StoredCase stored;
  ::faiss::MetricType metric;
  std::unique_ptr<::faiss::Index> (*make)(const StoredCase&, ::faiss::MetricType) = make_stored;
};

std::unique_ptr<::faiss::Index> make_stored_nsg(const StoredCase& made,
                                                ::faiss::MetricType metric) {
  return make_nsg(made.description, made.dim, made.rows, metric);
}

std::unique_ptr<::faiss::Index> make_stored_hnsw(const StoredCase& made,
                                                 ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  auto& graph = dynamic_cast<::faiss::IndexHNSW&>(*index);
  graph.storage->add(made.rows, clustered_rows(made.rows, made.dim, 7).data());
  link_hnsw(graph);
  return index;
}

/// Lists about rows, which k-means did not choose.
std::unique_ptr<::faiss::Index> make_stored_lists(const StoredCase& made,
                                                  ::faiss::MetricType metric) {
  auto index = index_factory(made.dim, made.description, metric);
  auto& ivf = dynamic_cast<::faiss::IndexIVF&>(*index);
  const auto nlist = static_cast<int64_t>(ivf.nlist);
  const std::vector<float> centroids = clustered_rows(nlist, made.dim, 3);
  if (auto* graph = dynamic_cast<::faiss::IndexHNSW*>(ivf.quantizer)) {
    graph->storage->add(nlist, centroids.data());
    link_hnsw(*graph);
  } else {
    ivf.quantizer->add(nlist, centroids.data());
  }
  ivf.nprobe = 3;
  train_and_add(ivf, made);
  return index;
}

// Without what FAISS trains, which other last bits on other machines.
const Golden kGolden[] = {
    {"polar2_ids", {"Polar2", 100, 70, true}, ::faiss::METRIC_L2},
    {"polar4", {"Polar4", 300, 20}, ::faiss::METRIC_INNER_PRODUCT},
    {"polar8", {"Polar8", 17, 20}, ::faiss::METRIC_L2},
    {"polar2+2", {"Polar2+2", 64, 20}, ::faiss::METRIC_L2},
    {"polar_tree", {"PolarTree4.2.2.2", 16, 20}, ::faiss::METRIC_INNER_PRODUCT},
    {"empty", {"Polar3", 24, 0}, ::faiss::METRIC_L2},
    {"id_map", {"L2norm,IDMap2,Polar4", 24, 20, true}, ::faiss::METRIC_INNER_PRODUCT},
    {"refine", {"Polar2,Refine(SQfp16)", 24, 20}, ::faiss::METRIC_L2},
    {"flat", {"Flat", 8, 20}, ::faiss::METRIC_L2},
    {"nsg", {"Polar4", 70, 40}, ::faiss::METRIC_INNER_PRODUCT, make_stored_nsg},
    {"hnsw", {"HNSW8,Polar4", 70, 40}, ::faiss::METRIC_L2, make_stored_hnsw},
    {"ivf", {"IVF5,Polar4", 40, 90}, ::faiss::METRIC_INNER_PRODUCT, make_stored_lists},
    {"ivf_ids", {"IVF5,Polar4", 24, 90, true}, ::faiss::METRIC_L2, make_stored_lists},
    {"ivf_hnsw", {"IVF9_HNSW8,Polar4", 24, 90}, ::faiss::METRIC_L2, make_stored_lists},
};

std::string path_of(const Golden& golden) {
  return std::string("tests/golden/format1/") + golden.file + ".polarquant";
}

std::vector<uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("Golden files of format 1 are read, and written byte for byte", "[faiss][io]") {
  const Golden golden = GENERATE(from_range(std::begin(kGolden), std::end(kGolden)));
  INFO(golden.file);
  const std::vector<uint8_t> bytes = contents(path_of(golden));
  const auto read = read_index(path_of(golden));
  CHECK((written(*read) == bytes));
  CHECK(read->ntotal == golden.stored.rows);
  const std::vector<float> queries = clustered_rows(5, golden.stored.dim, 11);
  CHECK(find(*read, queries, 4) == find(*clone_index(*read), queries, 4));
}

TEST_CASE("Golden files are made", "[.make-golden]") {
  for (const Golden& golden : kGolden) {
    write_index(*golden.make(golden.stored, golden.metric), path_of(golden));
  }
}

}  // namespace
}  // namespace polarquant::test
