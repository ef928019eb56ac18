// SPDX-License-Identifier: MIT
// Searches on a device give the CPU's rows and scores, to the bit.
#include <algorithm>
#include <thread>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

std::vector<float> some_of(const std::vector<float>& x, int dim, int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> queries;
  const uint64_t rows = x.size() / static_cast<size_t>(dim);
  for (int64_t q = 0; q < count; ++q) {
    const auto row = static_cast<size_t>(random.next() % rows) * static_cast<size_t>(dim);
    for (int j = 0; j < dim; ++j)
      queries.push_back(x[row + static_cast<size_t>(j)] +
                        .3F * static_cast<float>(random.normal()));
  }
  return queries;
}

TEST_CASE("every rate, one query and many", "[cuda]") {
  const std::string spec =
      GENERATE("Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3", "Polar3.5",
               "Polar4", "Polar4.5", "Polar5", "Polar8", "Polar1+1", "Polar2+2", "Polar4+2");
  const int dim = GENERATE(64, 96, 384);
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  CAPTURE(spec, dim, metric);
  const std::vector<float> x = clustered_rows(1500, dim, 3);
  const CodedRows rows(spec, dim, metric, x);
  const std::vector<float> queries = some_of(x, dim, 40, 4);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  const std::vector<float> few(queries.begin(), queries.begin() + 3 * dim);
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare(one, 10, search_options(exactness));
    rows.compare(few, 10, search_options(exactness));
    rows.compare(queries, 10, search_options(exactness));
  }
}

TEST_CASE("odd dimensions and tails", "[cuda]") {
  const std::string spec =
      GENERATE("Polar1", "Polar2", "Polar3.5", "Polar4.5", "Polar5", "Polar8", "Polar2+2");
  const int dim = GENERATE(1, 2, 3, 7, 33, 63, 65, 100, 127, 129, 200, 321, 1000);
  CAPTURE(spec, dim);
  const int64_t n = GENERATE(1, 63, 64, 65, 777);
  const std::vector<float> x = clustered_rows(n, dim, 5);
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = some_of(x, dim, 9, 6);
  for (const float exactness : {1.0F, kEveryRow}) {
    rows.compare({queries.begin(), queries.begin() + dim}, 5, search_options(exactness));
    rows.compare(queries, 5, search_options(exactness));
  }
}

TEST_CASE("rows of lengths far apart, and codes of before format 4", "[cuda]") {
  const std::string spec = GENERATE("Polar1", "Polar2", "Polar4", "Polar5", "Polar2+2");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const ShortFloats floats = GENERATE(ShortFloats::wide, ShortFloats::binary16);
  CAPTURE(spec, metric, floats == ShortFloats::wide);
  const int dim = 130;
  std::vector<float> x = clustered_rows(1500, dim, 13);
  const std::vector<float> queries = some_of(x, dim, 40, 14);
  if (floats == ShortFloats::wide) stretch_rows(dim, &x);
  const CodedRows rows(spec, dim, metric, x, floats);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare(one, 10, search_options(exactness));
    rows.compare(queries, 10, search_options(exactness));
  }
}

TEST_CASE("whole segments, of which four are decoded together", "[cuda]") {
  const std::string spec = GENERATE("Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5",
                                    "Polar3", "Polar3.5", "Polar4", "Polar4.5", "Polar5");
  const int dim = GENERATE(256, 320, 448, 512, 768);
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  CAPTURE(spec, dim, metric);
  const std::vector<float> x = clustered_rows(700, dim, 11);
  const CodedRows rows(spec, dim, metric, x);
  const std::vector<float> queries = some_of(x, dim, 100, 12);
  for (const int count : {1, 20, 100})
    rows.compare({queries.begin(), queries.begin() + int64_t{count} * dim}, 10,
                 search_options(kEveryRow));
}

TEST_CASE("few and many results", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8");
  const int dim = 128;
  const std::vector<float> x = clustered_rows(20000, dim, 7);
  const CodedRows rows(spec, dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = some_of(x, dim, 9, 8);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  for (const int64_t k : {1, 2, 100, 1000, 1024, 3000, 20000, 20001}) {
    for (const float exactness : {2.25F, kEveryRow}) {
      rows.compare(one, k, search_options(exactness));
      if (k <= 1024) rows.compare(queries, k, search_options(exactness));
    }
  }
}

TEST_CASE("thresholds from samples, and lists that are too short", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar1");
  const int dim = 64;
  // Sorted by their nearness to the first query: a threshold from the first rows would be of little
  // use, and rows that are alike crowd the lists.
  std::vector<float> x = clustered_rows(150000, dim, 9);
  const bool copies = GENERATE(false, true);
  if (copies) {
    for (size_t i = static_cast<size_t>(20000) * dim; i < x.size(); ++i)
      x[i] = x[i % (static_cast<size_t>(7) * dim)];
  }
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = some_of(x, dim, 150, 10);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  CAPTURE(spec, copies);
  for (const float exactness : {0.0F, 2.25F, kEveryRow}) {
    rows.compare(one, 10, search_options(exactness));
    rows.compare(queries, 10, search_options(exactness));
  }
}

TEST_CASE("a query's best rows are few, and in none of the sampled blocks", "[cuda]") {
  const int dim = 128;
  const int64_t n = 200000;
  Random random(14);
  std::vector<float> x(static_cast<size_t>(n * dim));
  for (float& value : x) value = static_cast<float>(random.normal());
  const std::vector<float> one(x.begin(), x.begin() + dim);
  // What is nearest otherwise bounds next to nothing. Twelve rows leave one scan more; eight leave
  // all rows to be scored.
  const int64_t near = GENERATE(12, 8);
  for (int64_t i = 0; i < near; ++i) {
    float* row = x.data() + (64 * (16 * i + 5) + i) * dim;
    for (int j = 0; j < dim; ++j)
      row[j] = one[static_cast<size_t>(j)] + .3F * static_cast<float>(random.normal());
  }
  for (int j = 0; j < dim; ++j) x[static_cast<size_t>(j)] = static_cast<float>(random.normal());
  const std::string spec = GENERATE("Polar2", "Polar4");
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  std::vector<float> two = some_of(x, dim, 1, 15);
  two.insert(two.begin(), one.begin(), one.end());
  CAPTURE(spec, near);
  rows.compare(one, 10, search_options(2.25F));
  rows.compare(two, 10, search_options(2.25F));
}

TEST_CASE("filters", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar1.5");
  const int dim = 96;
  const std::vector<float> x = clustered_rows(5000, dim, 11);
  const CodedRows rows(spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = some_of(x, dim, 20, 12);
  const std::vector<float> one(queries.begin(), queries.begin() + dim);
  std::vector<uint64_t> bits(70);
  Random random(13);
  const int share = GENERATE(1, 2, 50);
  for (uint64_t& word : bits) {
    for (int i = 0; i < 64; ++i)
      word |= static_cast<uint64_t>(random.next() % static_cast<uint64_t>(share) == 0 ? 1 : 0) << i;
  }
  for (const float exactness : {2.25F, kEveryRow}) {
    polar_search_options options = search_options(exactness);
    polar_filter filter = bitset_filter(bits.data(), 4444);
    options.filter = &filter;
    rows.compare(one, 10, options);
    rows.compare(queries, 10, options);
    const std::vector<int64_t> ids = {3, 64, 65, 4000, 4999};
    filter = id_list_filter(ids.data(), 5);
    rows.compare(one, 10, options);
    rows.compare(queries, 3, options);
    filter = range_filter(1000, 1100);
    rows.compare(queries, 10, options);
  }
}

TEST_CASE("cosine, and a query of zeros", "[cuda]") {
  const int dim = 96;
  const std::vector<float> x = clustered_rows(3000, dim, 14);
  const CodedRows rows("Polar3", dim, POLAR_METRIC_COSINE, x);
  std::vector<float> queries = some_of(x, dim, 20, 15);
  std::fill_n(queries.begin(), dim, 0.0F);
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare({queries.begin(), queries.begin() + dim}, 7, search_options(exactness));
    rows.compare(queries, 7, search_options(exactness));
  }
}

TEST_CASE("long vectors", "[cuda]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+4");
  const int dim = GENERATE(1536, 3072, 9000);
  const std::vector<float> x = clustered_rows(300, dim, 16);
  const CodedRows rows(spec, dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = some_of(x, dim, 20, 17);
  CAPTURE(spec, dim);
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare({queries.begin(), queries.begin() + dim}, 7, search_options(exactness));
    rows.compare(queries, 7, search_options(exactness));
  }
}

TEST_CASE("searches of one index by several threads", "[cuda]") {
  const int dim = 96;
  const std::vector<float> x = clustered_rows(4000, dim, 18);
  const CodedRows rows("Polar2", dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = some_of(x, dim, 30, 19);
  const SearchResult expected = rows.on_cpu(queries, 10, search_options(2.25F));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        SearchResult found{std::vector<float>(300), std::vector<int64_t>(300)};
        const polar_search_options options = search_options(2.25F);
        const polar_status status =
            polar_cuda_index_search(rows.device(), 30, queries.data(), 10, &options, nullptr,
                                    found.scores.data(), found.ids.data());
        if (status != POLAR_OK || !(found == expected)) ++wrong[static_cast<size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a second search allocates nothing", "[cuda]") {
  const int dim = 96;
  const std::vector<float> x = clustered_rows(4000, dim, 20);
  const CodedRows rows("Polar2", dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = some_of(x, dim, 30, 21);
  rows.on_device(queries, 10, search_options(2.25F));
  const size_t before = memory_bytes(rows.device());
  rows.on_device(queries, 10, search_options(2.25F));
  CHECK(memory_bytes(rows.device()) == before);
}

}  // namespace
}  // namespace polarquant::test
