// SPDX-License-Identifier: MIT
// An index on several devices gives the rows and scores of one device and of the CPU, to the bit.
// One device, listed more than once, is several; two are taken where they are there.
#include <algorithm>
#include <thread>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

std::vector<std::vector<int32_t>> device_lists() {
  std::vector<std::vector<int32_t>> lists = {{0, 0}, {0, 0, 0}};
  int32_t count = 0;
  require_ok(polar_cuda_device_count(&count));
  if (count >= 2) {
    lists.push_back({0, 1});
    lists.push_back({1, 0, 1});
  } else {
    WARN("there is one device: indexes on two different ones are not tested");
  }
  return lists;
}

void compare(const CodedRows& rows, const std::vector<PlacedCopy>& copies,
             const std::vector<float>& queries, int64_t k, const polar_search_options& options) {
  const SearchResult cpu = rows.on_cpu(queries, k, options);
  CHECK(rows.on_device(queries, k, options) == cpu);
  check_copies(rows, copies, queries, k, options, cpu);
}

TEST_CASE("several devices: codes, metrics, queries and results", "[cuda][several]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+2");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  // Fewer rows than devices have blocks, shards of fewer rows than are asked for, and more.
  const int64_t n = GENERATE(1, 70, 2500, 9000);
  const int dim = 96;
  CAPTURE(spec, metric, n);
  const CodedRows rows(spec, dim, metric, clustered_rows(n, dim, 23));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  for (const int64_t nq : {0, 1, 5, 200}) {
    const std::vector<float> queries = clustered_rows(nq, dim, 24);
    for (const int64_t k : {1, 10, 1024}) {
      for (const float exactness : {2.25F, kEveryRow})
        compare(rows, copies, queries, k, search_options(exactness));
    }
  }
}

TEST_CASE("several devices: every row is a result", "[cuda][several]") {
  const std::string spec = GENERATE("Polar2", "Polar8");
  const CodedRows rows(spec, 64, POLAR_METRIC_L2, clustered_rows(3000, 64, 25));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  const std::vector<float> queries = clustered_rows(2, 64, 26);
  for (const int64_t k : {2999, 3000, 3001})
    compare(rows, copies, queries, k, search_options(2.25F));
}

TEST_CASE("several devices: filters", "[cuda][several]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8");
  const int dim = 96;
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(5000, dim, 27));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  std::vector<uint64_t> bits(70);
  Random random(28);
  for (uint64_t& word : bits) word = random.next() & random.next() & random.next();
  const std::vector<int64_t> ids = {3, 64, 65, 2499, 2500, 4000, 4999};
  for (const int64_t nq : {1, 20}) {
    const std::vector<float> queries = clustered_rows(nq, dim, 29);
    for (const float exactness : {2.25F, kEveryRow}) {
      polar_search_options options = search_options(exactness);
      polar_filter filter = bitset_filter(bits.data(), 4444);
      options.filter = &filter;
      compare(rows, copies, queries, 10, options);
      filter = id_list_filter(ids.data(), std::ssize(ids));
      compare(rows, copies, queries, 10, options);
      // Of one shard alone.
      filter = range_filter(100, 1000);
      compare(rows, copies, queries, 10, options);
    }
  }
}

TEST_CASE("prepared filters, whose few rows are copied", "[cuda][several]") {
  const std::string spec = GENERATE("Polar2", "Polar8", "Polar4+2", "Polar4-pca");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const int dim = 96;
  const int64_t n = 20000;
  const CodedRows rows(spec, dim, metric, clustered_rows(n, dim, 41));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  const std::vector<float> queries = clustered_rows(200, dim, 42);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  for (const int64_t every : {2, 9, 100, 4000, 19999}) {
    std::vector<uint64_t> bits(n / 64 + 1);
    for (int64_t row = every / 2; row < n; row += every)
      bits[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
    const PreparedFilter prepared(bitset_filter(bits.data(), n));
    CAPTURE(spec, metric, every);
    for (const float exactness : {2.25F, kEveryRow}) {
      polar_search_options options = search_options(exactness);
      options.filter = prepared.get();
      compare(rows, copies, one, 10, options);
      compare(rows, copies, queries, 100, options);
    }
  }
}

TEST_CASE("several devices: rows that are alike", "[cuda][several]") {
  const int dim = 64;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8");
  // Seven rows again and again: every result is a tie between shards.
  std::vector<float> x = clustered_rows(60000, dim, 30);
  for (size_t i = size_t{9000} * dim; i < x.size(); ++i) x[i] = x[i % (size_t{7} * dim)];
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  const std::vector<float> queries(x.begin(), x.begin() + int64_t{40} * dim);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  for (const float exactness : {0.0F, 2.25F, kEveryRow}) {
    compare(rows, copies, one, 10, search_options(exactness));
    compare(rows, copies, queries, 100, search_options(exactness));
  }
}

TEST_CASE("several devices: searches by several threads", "[cuda][several]") {
  const int dim = 96;
  const CodedRows rows("Polar2", dim, POLAR_METRIC_INNER_PRODUCT, clustered_rows(4000, dim, 31));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  const std::vector<float> queries = clustered_rows(3, dim, 32);
  const SearchResult expected = rows.on_cpu(queries, 10, search_options(2.25F));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (const PlacedCopy& copy : copies) {
        for (int i = 0; i < 10; ++i) {
          SearchResult found{std::vector<float>(30), std::vector<int64_t>(30)};
          const polar_status status =
              polar_cuda_index_search(copy.index.get(), 3, queries.data(), 10, nullptr, nullptr,
                                      found.scores.data(), found.ids.data());
          if (status != POLAR_OK || !(found == expected)) ++wrong[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("several devices: memory, and what is refused", "[cuda][several]") {
  const CodedRows rows("Polar2", 96, POLAR_METRIC_L2, clustered_rows(20000, 96, 33));
  int32_t count = 0;
  require_ok(polar_cuda_device_count(&count));
  const std::vector<PlacedCopy> copies = copies_of(rows, device_lists());
  const size_t one = memory_bytes(rows.device());
  for (const PlacedCopy& copy : copies) {
    const size_t bytes = memory_bytes(copy.index.get());
    const size_t all = one * copy.devices.size();
    if (copy.layout == POLAR_CUDA_REPLICATED) CHECK(bytes == all);
    if (copy.layout == POLAR_CUDA_SHARDED) CHECK((bytes >= one && bytes < one + one / 10));
  }
  std::vector<float> query(96, 1.0F);
  float score = 0;
  int64_t id = 0;
  CHECK(polar_cuda_index_search(copies[0].index.get(), 1, query.data(), 1, nullptr, &score, &score,
                                &id) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring("stream: "));
  const std::vector<int32_t> devices = {0, count};
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  options.devices = devices.data();
  options.num_devices = 2;
  polar_cuda_index* index = nullptr;
  CHECK(rows.try_copy(&options, &index) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(index == nullptr);
  CHECK_THAT(last_error(),
             Catch::Matchers::ContainsSubstring("options.devices[1]: " + std::to_string(count)));
}

}  // namespace
}  // namespace polarquant::test
