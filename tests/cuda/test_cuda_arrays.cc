// SPDX-License-Identifier: MIT
// Queries in the device's memory are prepared there as the CPU prepares them, so that rows and
// scores are the CPU's to the bit, wherever queries, results and filters lie.
#include <cuda_runtime.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/cuda/device_array.h"
#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

/// A search from device memory to device memory.
SearchResult search_there(const polar_cuda_index* index, const std::vector<float>& queries,
                          int64_t nq, int64_t k, const polar_search_options& options) {
  const DeviceArray<float> given(queries);
  const auto count = static_cast<size_t>(nq * k);
  const DeviceArray<float> scores(std::vector<float>(count, 77.0F));
  const DeviceArray<int64_t> ids(std::vector<int64_t>(count, 77));
  require_ok(polar_cuda_index_search(index, nq, given.data(), k, &options, nullptr, scores.data(),
                                     ids.data()));
  return {scores.values(), ids.values()};
}

void compare(const CodedRows& rows, int dim, const std::vector<float>& queries, int64_t k,
             const polar_search_options& options) {
  const int64_t nq = static_cast<int64_t>(queries.size()) / dim;
  CAPTURE(nq, k, options.exactness);
  CHECK(search_there(rows.device(), queries, nq, k, options) == rows.on_cpu(queries, k, options));
}

std::vector<float> first_of(const std::vector<float>& queries, int dim, int64_t count) {
  return {queries.begin(), queries.begin() + count * dim};
}

TEST_CASE("queries in the device's memory, of every code", "[cuda][arrays]") {
  const std::string spec =
      GENERATE("Polar0.5", "Polar1", "Polar2", "Polar2.5", "Polar4", "Polar4-norot", "Polar5",
               "Polar8", "Polar2+2", "Polar4+2", "Polar1-pca", "Polar4-pca", "Polar4+2-pca");
  const int dim = GENERATE(20, 64, 100, 127, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  CAPTURE(spec, dim, metric);
  const CodedRows rows(spec, dim, metric, falling_rows(1500, dim, .4, 3));
  const std::vector<float> queries = falling_rows(70, dim, .4, 4);
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const int64_t nq : {1, 3, 70})
      compare(rows, dim, first_of(queries, dim, nq), 10, search_options(exactness));
  }
}

TEST_CASE("long queries in the device's memory", "[cuda][arrays]") {
  const int dim = GENERATE(1, 7, 33, 511, 768, 1000, 1536, 3000);
  const std::string spec = GENERATE("Polar2", "Polar4-pca");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_COSINE);
  const bool is_trained = spec == "Polar4-pca";
  if (dim > 1000 && is_trained) return;  // trains for long
  CAPTURE(spec, dim, metric);
  // Training takes two rows a dimension.
  const int64_t n = is_trained ? 900 + 2 * dim : 900;
  const CodedRows rows(spec, dim, metric, falling_rows(n, dim, .2, 3));
  const std::vector<float> queries = falling_rows(9, dim, .2, 4);
  for (const int64_t nq : {1, 9})
    compare(rows, dim, first_of(queries, dim, nq), 5, search_options(2.25F));
}

TEST_CASE("queries of unusual lengths in the device's memory", "[cuda][arrays]") {
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  constexpr int kDim = 96;
  const CodedRows rows("Polar4", kDim, metric, clustered_rows(700, kDim, 3));
  std::vector<float> queries = clustered_rows(80, kDim, 4);
  stretch_rows(kDim, &queries);
  std::fill_n(queries.begin() + 5 * kDim, kDim, 0.0F);
  compare(rows, kDim, queries, 10, search_options(2.25F));
  // The host takes the first and the last over, which are near a limit.
  for (const float factor : {5.2e-35F, 1e-30F, 1e15F, 1.5e17F}) {
    std::vector<float> far = clustered_rows(3, kDim, 5);
    for (float& value : far) value *= factor;
    CAPTURE(factor);
    compare(rows, kDim, far, 10, search_options(2.25F));
  }
}

TEST_CASE("some arrays in the device's memory", "[cuda][arrays]") {
  constexpr int kDim = 128;
  const std::string spec = GENERATE("Polar4", "Polar8");
  const CodedRows rows(spec, kDim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(5000, kDim, 3));
  const int64_t nq = GENERATE(2, 33);
  const int64_t k = 10;
  const std::vector<float> queries = clustered_rows(nq, kDim, 4);
  const polar_search_options options = search_options(2.25F);
  const SearchResult expected = rows.on_cpu(queries, k, options);
  const DeviceArray<float> given(queries);
  for (int there = 0; there < 8; ++there) {
    CAPTURE(spec, nq, there);
    SearchResult found{std::vector<float>(expected.scores.size()),
                       std::vector<int64_t>(expected.ids.size())};
    const DeviceArray<float> scores(found.scores);
    const DeviceArray<int64_t> ids(found.ids);
    const bool has_scores = (there & 2) != 0;
    const bool has_ids = (there & 4) != 0;
    require_ok(polar_cuda_index_search(
        rows.device(), nq, (there & 1) != 0 ? given.data() : queries.data(), k, &options, nullptr,
        has_scores ? scores.data() : found.scores.data(), has_ids ? ids.data() : found.ids.data()));
    if (has_scores) found.scores = scores.values();
    if (has_ids) found.ids = ids.values();
    CHECK(found == expected);
  }
}

TEST_CASE("many queries in the device's memory, on a stream", "[cuda][arrays]") {
  constexpr int kDim = 64;
  constexpr int64_t kQueries = 9000;  // more than go together
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_COSINE, clustered_rows(3000, kDim, 3));
  const std::vector<float> queries = clustered_rows(kQueries, kDim, 4);
  const polar_search_options options = search_options(2.25F);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  const DeviceArray<float> given(std::vector<float>(queries.size(), 0.0F));
  const DeviceArray<float> scores(std::vector<float>(kQueries * 3));
  const DeviceArray<int64_t> ids(std::vector<int64_t>(kQueries * 3));
  // What writes the queries is on the stream, before the search.
  REQUIRE(cudaMemcpyAsync(given.data(), queries.data(), queries.size() * sizeof(float),
                          cudaMemcpyHostToDevice, stream) == cudaSuccess);
  require_ok(polar_cuda_index_search(rows.device(), kQueries, given.data(), 3, &options, stream,
                                     scores.data(), ids.data()));
  CHECK(SearchResult{scores.values(), ids.values()} == rows.on_cpu(queries, 3, options));
  cudaStreamDestroy(stream);
}

TEST_CASE("a filter in the device's memory", "[cuda][arrays]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(3001, kDim, 3));
  const std::vector<float> queries = clustered_rows(6, kDim, 4);
  const std::vector<uint64_t> bits = scattered_bits(60);
  const DeviceArray<uint64_t> lent(bits);
  for (const int64_t num_bits : {1, 64, 1000, 3001, 3500}) {
    CAPTURE(num_bits);
    polar_search_options options = search_options(2.25F);
    polar_filter filter = bitset_filter(bits.data(), num_bits);
    options.filter = &filter;
    const SearchResult expected = rows.on_cpu(queries, 10, options);
    const PreparedFilter prepared(filter);
    options.filter = prepared.get();
    CHECK(search_there(rows.device(), queries, 6, 10, options) == expected);
    options.filter = &filter;
    filter.bitset.words = lent.data();
    CHECK(search_there(rows.device(), queries, 6, 10, options) == expected);
    const std::vector<int32_t> devices = {0, 0};
    const Handle<polar_cuda_index> shards = rows.on(devices, POLAR_CUDA_SHARDED);
    CHECK(search_there(shards.get(), queries, 6, 10, options) == expected);
  }
}

TEST_CASE("queries in the device's memory are refused as others are", "[cuda][arrays]") {
  constexpr int kDim = 64;
  const CodedRows rows("Polar4", kDim, POLAR_METRIC_COSINE, clustered_rows(300, kDim, 3));
  std::vector<float> queries = clustered_rows(4, kDim, 4);
  for (const float wrong :
       {std::nanf(""), std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    queries[2 * kDim + 5] = wrong;
    std::string texts[2];
    for (const bool there : {false, true}) {
      const DeviceArray<float> given(queries);
      SearchResult found{std::vector<float>(12), std::vector<int64_t>(12)};
      const polar_search_options options = search_options(2.25F);
      const polar_status status =
          polar_cuda_index_search(rows.device(), 4, there ? given.data() : queries.data(), 3,
                                  &options, nullptr, found.scores.data(), found.ids.data());
      CHECK(status == POLAR_ERROR_BAD_ARGUMENT);
      texts[there ? 1 : 0] = last_error();
    }
    CHECK(texts[0] == texts[1]);
  }
}

TEST_CASE("arrays of inverted files in the device's memory", "[cuda][arrays]") {
  if (!has_indexes()) return;
  const std::string kind = GENERATE("IVF20,Polar4", "IVF20,Polar2-pca", "IVF20,Polar2,RFlat");
  const polar_metric metric = GENERATE(POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  constexpr int kDim = 96;
  CAPTURE(kind, metric);
  const ListedRows rows(kind, kDim, metric, falling_rows(4000, kDim, .3, 3));
  const std::vector<float> queries = falling_rows(50, kDim, .3, 4);
  for (const int64_t nq : {1, 50}) {
    polar_search_options options = probing(5, 2.25F);
    const std::vector<float> some = first_of(queries, kDim, nq);
    CHECK(search_there(rows.device(), some, nq, 10, options) == rows.on_cpu(some, 10, options));
    const polar_filter filter = range_filter(100, 900);
    options.filter = &filter;
    CHECK(search_there(rows.device(), some, nq, 10, options) == rows.on_cpu(some, 10, options));
  }
}

}  // namespace
}  // namespace polarquant::test
