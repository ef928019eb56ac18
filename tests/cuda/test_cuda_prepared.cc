// SPDX-License-Identifier: MIT
// Searches that are started and not waited for find what those find that are, by themselves and in
// a CUDA graph, and say where they do not.
#include <cuda_runtime.h>

#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "tests/cuda/listed_rows.h"
#include "tests/cuda/started_search.h"

namespace polarquant::test {
namespace {

void check_search(const polar_cuda_index* index, int dim, const std::vector<float>& queries,
                  int64_t k, const polar_search_options& options, const SearchResult& expected) {
  const Stream stream;
  const int64_t nq = static_cast<int64_t>(queries.size()) / dim;
  const Prepared search(index, nq, dim, k, options);
  search.put(queries, stream.get());
  search.start(stream.get());
  stream.wait();
  CAPTURE(nq, k, options.exactness);
  CHECK(search.unfinished() == 0);
  CHECK(search.found() == expected);
}

TEST_CASE("prepared searches of every code", "[cuda][prepared]") {
  const std::string spec = GENERATE("Polar0.5", "Polar2", "Polar4", "Polar4-norot", "Polar8",
                                    "Polar4+2", "Polar1-pca", "Polar4-pca");
  const int dim = GENERATE(20, 100, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  CAPTURE(spec, dim, metric);
  const CodedRows rows(spec, dim, metric, falling_rows(1500, dim, .4, 3));
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const int64_t nq : {1, 4, 70}) {
      const std::vector<float> queries = falling_rows(nq, dim, .4, 4);
      const polar_search_options options = search_options(exactness);
      check_search(rows.device(), dim, queries, 10, options, rows.on_cpu(queries, 10, options));
    }
  }
}

TEST_CASE("prepared searches of many rows, for many queries and neighbors", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(60000, kDim, 3));
  const polar_search_options options = search_options(2.25F);
  for (const int64_t nq : {2, 300, 5000}) {
    const std::vector<float> queries = clustered_rows(nq, kDim, 4);
    const int64_t k = nq == 5000 ? 3 : 100;
    check_search(rows.device(), kDim, queries, k, options, rows.on_cpu(queries, k, options));
  }
  const std::vector<float> queries = clustered_rows(2, kDim, 4);
  check_search(rows.device(), kDim, queries, 60010, options, rows.on_cpu(queries, 60010, options));
}

TEST_CASE("prepared searches with filters", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(3001, kDim, 3));
  const std::vector<float> queries = clustered_rows(6, kDim, 4);
  const std::vector<uint64_t> bits = scattered_bits(60);
  const DeviceArray<uint64_t> lent(bits);
  for (const int64_t num_bits : {1, 64, 1000, 3001}) {
    CAPTURE(num_bits);
    polar_search_options options = search_options(2.25F);
    polar_filter filter = bitset_filter(bits.data(), num_bits);
    options.filter = &filter;
    const SearchResult expected = rows.on_cpu(queries, 10, options);
    check_search(rows.device(), kDim, queries, 10, options, expected);
    const PreparedFilter prepared(filter);
    options.filter = prepared.get();
    check_search(rows.device(), kDim, queries, 10, options, expected);
    options.filter = &filter;
    filter.bitset.words = lent.data();
    check_search(rows.device(), kDim, queries, 10, options, expected);
  }
}

TEST_CASE("a graph searches for the queries that lie there", "[cuda][prepared]") {
  constexpr int kDim = 96;
  constexpr int64_t kNeighbors = 10;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_COSINE, clustered_rows(20000, kDim, 3));
  const polar_search_options options = search_options(2.25F);
  for (const int64_t nq : {1, 130}) {
    const Stream stream;
    const Prepared search(rows.device(), nq, kDim, kNeighbors, options);
    const SearchGraph graph(search, stream);
    for (uint64_t seed = 10; seed < 15; ++seed) {
      const std::vector<float> queries = clustered_rows(nq, kDim, seed);
      search.put(queries, stream.get());
      graph.launch(stream);
      CAPTURE(nq, seed);
      CHECK(search.unfinished() == 0);
      CHECK(search.found() == rows.on_cpu(queries, kNeighbors, options));
    }
  }
}

TEST_CASE("a start returns while its stream is held up", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_L2, clustered_rows(5000, kDim, 3));
  const polar_search_options options = search_options(2.25F);
  const Stream stream;
  const Prepared search(rows.device(), 40, kDim, 5, options);
  const std::vector<float> queries = clustered_rows(40, kDim, 4);
  search.put(queries, stream.get());
  std::atomic<bool> may_go_on = false;
  REQUIRE(cudaLaunchHostFunc(
              stream.get(),
              [](void* flag) {
                const auto& go_on = *static_cast<std::atomic<bool>*>(flag);
                while (!go_on) {
                }
              },
              &may_go_on) == cudaSuccess);
  for (int i = 0; i < 3; ++i) search.start(stream.get());
  CHECK(cudaStreamQuery(stream.get()) == cudaErrorNotReady);
  may_go_on = true;
  stream.wait();
  CHECK(search.unfinished() == 0);
  CHECK(search.found() == rows.on_cpu(queries, 5, options));
}

TEST_CASE("a prepared search outlives its index", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_L2, clustered_rows(2000, kDim, 3));
  const polar_search_options options = search_options(2.25F);
  const std::vector<float> queries = clustered_rows(9, kDim, 4);
  Handle<polar_cuda_index> index = rows.on({0}, POLAR_CUDA_SHARDED);
  const Prepared search(index.get(), 9, kDim, 5, options);
  index.reset();
  const Stream stream;
  search.put(queries, stream.get());
  search.start(stream.get());
  stream.wait();
  CHECK(search.found() == rows.on_cpu(queries, 5, options));
}

TEST_CASE("a prepared search tells what it did not finish", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const Stream stream;
  SECTION("a query that is not finite, then one that is") {
    const CodedRows rows("Polar4", kDim, POLAR_METRIC_COSINE, clustered_rows(300, kDim, 3));
    const polar_search_options options = search_options(2.25F);
    const Prepared search(rows.device(), 4, kDim, 3, options);
    const std::vector<float> good = clustered_rows(4, kDim, 4);
    std::vector<float> bad = good;
    bad[2 * kDim + 5] = std::numeric_limits<float>::quiet_NaN();
    search.put(bad, stream.get());
    search.start(stream.get());
    stream.wait();
    CHECK(search.unfinished() == 1);
    search.put(good, stream.get());
    search.start(stream.get());
    stream.wait();
    CHECK(search.unfinished() == 0);
    CHECK(search.found() == rows.on_cpu(good, 3, options));
  }
  SECTION("rows that are all alike") {
    std::vector<float> alike = clustered_rows(1, kDim, 3);
    const std::vector<float> one = alike;
    for (int i = 1; i < 200000; ++i) alike.insert(alike.end(), one.begin(), one.end());
    const CodedRows rows("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, alike);
    for (const int64_t nq : {1, 40}) {
      const polar_search_options options = search_options(2.25F);
      const std::vector<float> queries = clustered_rows(nq, kDim, 4);
      const Prepared search(rows.device(), nq, kDim, 3, options);
      search.put(queries, stream.get());
      search.start(stream.get());
      stream.wait();
      // The lower rows come first, so that others fall; whoever says 0 has them.
      if (search.unfinished() == 0)
        CHECK(search.found() == rows.on_cpu(queries, 3, options));
      else
        CHECK(search.unfinished() == 1);
    }
  }
}

TEST_CASE("what prepared searches refuse", "[cuda][prepared]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_L2, clustered_rows(300, kDim, 3));
  polar_search_options options = search_options(2.25F);
  polar_cuda_search* search = nullptr;
  const auto create = [&](const polar_cuda_index* index, int64_t nq, int64_t k) {
    return polar_cuda_search_create(index, nq, k, &options, &search);
  };
  CHECK(create(nullptr, 1, 1) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(create(rows.device(), 0, 1) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error().find("nq: 0") != std::string::npos);
  CHECK(create(rows.device(), 1, 0) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(create(rows.device(), int64_t{1} << 61, 1) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(create(rows.device(), 2, int64_t{1} << 60) == POLAR_ERROR_BAD_ARGUMENT);
  options.nprobe = 2;
  CHECK(create(rows.device(), 1, 1) == POLAR_ERROR_UNSUPPORTED);
  options.nprobe = 0;
  const Handle<polar_cuda_index> shards = rows.on({0, 0}, POLAR_CUDA_SHARDED);
  CHECK(create(shards.get(), 1, 1) == POLAR_ERROR_UNSUPPORTED);
  CHECK(last_error().find("2 devices") != std::string::npos);
  if (has_indexes()) {
    const ListedRows lists("IVF20,Polar4", kDim, POLAR_METRIC_L2, clustered_rows(900, kDim, 3));
    CHECK(create(lists.device(), 1, 1) == POLAR_ERROR_UNSUPPORTED);
    CHECK(last_error().find("inverted file") != std::string::npos);
  }
  CHECK(search == nullptr);

  require_ok(create(rows.device(), 2, 3));
  const Handle<polar_cuda_search> held(search);
  const DeviceArray<float> queries(clustered_rows(2, kDim, 4));
  const DeviceArray<float> scores(std::vector<float>(6));
  const DeviceArray<int64_t> ids(std::vector<int64_t>(6));
  const DeviceArray<int32_t> unfinished({0});
  std::vector<float> on_host(6);
  CHECK(polar_cuda_search_start(nullptr, queries.data(), nullptr, scores.data(), ids.data(),
                                unfinished.data()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_search_start(search, nullptr, nullptr, scores.data(), ids.data(),
                                unfinished.data()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_search_start(search, queries.data(), nullptr, on_host.data(), ids.data(),
                                unfinished.data()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error() == "scores: host memory is not allowed; memory of CUDA device 0");
  CHECK(polar_cuda_search_start(search, queries.data(), nullptr, scores.data(), ids.data(),
                                nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  require_ok(polar_cuda_search_start(search, queries.data(), nullptr, scores.data(), ids.data(),
                                     unfinished.data()));
  CHECK(unfinished.values().front() == 0);
}

TEST_CASE("prepared searches give ids of the caller's", "[cuda][prepared]") {
  if (!has_indexes()) return;
  constexpr int kDim = 96;
  std::vector<int64_t> own_ids(4000);
  for (size_t i = 0; i < own_ids.size(); ++i) own_ids[i] = static_cast<int64_t>(9000 - 2 * i);
  const ListedRows rows("Polar4", kDim, POLAR_METRIC_COSINE, falling_rows(4000, kDim, .3, 3),
                        own_ids);
  const std::vector<float> queries = falling_rows(50, kDim, .3, 4);
  polar_search_options options = search_options(2.25F);
  check_search(rows.device(), kDim, queries, 10, options, rows.on_cpu(queries, 10, options));
  const polar_filter filter = range_filter(100, 900);
  options.filter = &filter;
  check_search(rows.device(), kDim, queries, 10, options, rows.on_cpu(queries, 10, options));
}

}  // namespace
}  // namespace polarquant::test
