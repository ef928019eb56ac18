// SPDX-License-Identifier: MIT
// Searches of inverted files on a device give the CPU's rows and scores, to the bit.
#include <algorithm>
#include <thread>

#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

TEST_CASE("inverted files: every rate, metric, and numbers of queries", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec =
      GENERATE("Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3", "Polar3.5",
               "Polar4", "Polar4.5", "Polar5", "Polar8", "Polar1+1", "Polar2+2", "Polar4+2");
  const int dim = GENERATE(64, 384);
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  CAPTURE(spec, dim, metric);
  const std::vector<float> x = clustered_rows(2000, dim, 3);
  const ListedRows rows("IVF20," + spec, dim, metric, x);
  CHECK(polar_cuda_index_ntotal(rows.device()) == 2000);
  const std::vector<float> queries = queries_near(x, dim, 40, 4);
  for (const float exactness : {2.25F, kEveryRow}) {
    for (const int64_t nprobe : {1, 5, 20, 21}) {
      rows.compare(first_of(queries, dim, 1), 10, probing(nprobe, exactness));
      rows.compare(first_of(queries, dim, 3), 10, probing(nprobe, exactness));
      rows.compare(queries, 10, probing(nprobe, exactness));
    }
  }
}

TEST_CASE("inverted files: odd dimensions", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec =
      GENERATE("Polar1", "Polar2", "Polar3.5", "Polar4.5", "Polar5", "Polar8", "Polar2+2");
  const int dim = GENERATE(1, 2, 3, 7, 33, 63, 65, 100, 129, 200, 321, 1000);
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  CAPTURE(spec, dim, metric);
  const std::vector<float> x = clustered_rows(600, dim, 5);
  const ListedRows rows("IVF7," + spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 9, 6);
  for (const float exactness : {1.0F, kEveryRow}) {
    rows.compare(first_of(queries, dim, 1), 5, probing(3, exactness));
    rows.compare(queries, 5, probing(3, exactness));
  }
}

TEST_CASE("inverted files: long vectors", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+4");
  const int dim = GENERATE(1536, 9000);
  const std::vector<float> x = clustered_rows(300, dim, 16);
  const ListedRows rows("IVF5," + spec, dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = queries_near(x, dim, 20, 17);
  CAPTURE(spec, dim);
  for (const float exactness : {2.25F, kEveryRow}) {
    rows.compare(first_of(queries, dim, 1), 7, probing(2, exactness));
    rows.compare(queries, 7, probing(4, exactness));
  }
}

TEST_CASE("inverted files: few and many results", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8");
  const int dim = 128;
  const std::vector<float> x = clustered_rows(20000, dim, 7);
  const ListedRows rows("IVF50," + spec, dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = queries_near(x, dim, 9, 8);
  for (const int64_t k : {1, 2, 100, 1000, 3000, 20000, 20001}) {
    for (const float exactness : {2.25F, kEveryRow}) {
      for (const int64_t nprobe : {1, 10, 50})
        rows.compare(first_of(queries, dim, 1), k, probing(nprobe, exactness));
      if (k <= 1000) rows.compare(queries, k, probing(10, exactness));
    }
  }
}

TEST_CASE("inverted files: many lists are searched", "[cuda][lists]") {
  if (!has_indexes()) return;
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const int dim = 64;
  const std::vector<float> x = clustered_rows(60000, dim, 9);
  const ListedRows rows("IVF1500,Polar2", dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 150, 10);
  for (const int64_t nprobe : {1, 32, 700, 1500}) {
    for (const float exactness : {0.0F, 2.25F, kEveryRow}) {
      rows.compare(first_of(queries, dim, 1), 10, probing(nprobe, exactness));
      rows.compare(queries, 10, probing(nprobe, exactness));
    }
  }
}

TEST_CASE("inverted files: lists without rows, and long ones", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar1", "Polar4+2");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const int dim = 96;
  const std::vector<float> x = clustered_rows(9000, dim, 11);
  // Most rows lie in list 5, a few in others, and 30 of 40 lists have none.
  std::vector<int64_t> lists(9000, 5);
  for (size_t i = 0; i < 500; ++i) lists[i] = static_cast<int64_t>(i % 10);
  lists[7] = 39;
  CAPTURE(spec, metric);
  const ListedRows rows(spec, 40, dim, metric, x, lists);
  const std::vector<float> queries = queries_near(x, dim, 60, 12);
  for (const int64_t nprobe : {1, 2, 10, 40}) {
    for (const float exactness : {2.25F, kEveryRow}) {
      rows.compare(first_of(queries, dim, 2), 10, probing(nprobe, exactness));
      rows.compare(queries, 100, probing(nprobe, exactness));
    }
  }
}

TEST_CASE("inverted files: rows that are alike, whatever their ids", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar1");
  const int dim = 64;
  // More equal rows than a result holds; the later row has the lower id.
  std::vector<float> x = clustered_rows(30000, dim, 13);
  for (size_t i = static_cast<size_t>(3000) * dim; i < x.size(); ++i)
    x[i] = x[i % (static_cast<size_t>(7) * dim)];
  std::vector<int64_t> ids(30000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(900000 - 3 * i);
  const ListedRows rows("IVF30," + spec, dim, POLAR_METRIC_INNER_PRODUCT, x, ids);
  const std::vector<float> queries = queries_near(x, dim, 50, 14);
  for (const int64_t nprobe : {2, 30}) {
    for (const float exactness : {2.25F, kEveryRow}) {
      rows.compare(first_of(queries, dim, 1), 10, probing(nprobe, exactness));
      rows.compare(queries, 10, probing(nprobe, exactness));
      rows.compare(queries, 300, probing(nprobe, exactness));
    }
  }
}

TEST_CASE("inverted files: lists a search looks through, and rows that came and went",
          "[cuda][lists]") {
  if (!has_indexes()) return;
  const int dim = 96;
  const std::vector<float> x = clustered_rows(4000, dim, 18);
  std::vector<int64_t> ids(4000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
  const ListedRows rows("IVF16,Polar3", dim, POLAR_METRIC_COSINE, x, ids);
  std::vector<float> queries = queries_near(x, dim, 20, 19);
  std::fill_n(queries.begin(), dim, 0.0F);
  rows.compare(queries, 7, probing(0, 2.25F));
  std::vector<int64_t> gone;
  for (int64_t id = 0; id < 4000; id += 3) gone.push_back(id);
  int64_t removed = 0;
  require_ok(
      polar_index_remove(rows.index(), static_cast<int64_t>(gone.size()), gone.data(), &removed));
  require_ok(polar_index_set_nprobe(rows.index(), 5));
  polar_cuda_index* made = nullptr;
  require_ok(polar_cuda_index_from_index(rows.index(), nullptr, &made));
  const Handle<polar_cuda_index> copy(made);
  CHECK(polar_cuda_index_ntotal(made) == 4000 - removed);
  for (const int64_t nprobe : {0, 3}) {
    const polar_search_options options = probing(nprobe, 2.25F);
    CHECK(rows.search(made, queries, 7, options) == rows.on_cpu(queries, 7, options));
  }
}

TEST_CASE("inverted files: no rows", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::vector<float> x = clustered_rows(100, 64, 20);
  const ListedRows rows("Polar2", 4, 64, POLAR_METRIC_L2, x, {});
  rows.compare(first_of(x, 64, 3), 5, probing(2, 2.25F));
}

TEST_CASE("inverted files: searches by several threads, and of as much memory", "[cuda][lists]") {
  if (!has_indexes()) return;
  const int dim = 96;
  const std::vector<float> x = clustered_rows(4000, dim, 21);
  const ListedRows rows("IVF16,Polar2", dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = queries_near(x, dim, 30, 22);
  const polar_search_options options = probing(4, 2.25F);
  const SearchResult expected = rows.on_cpu(queries, 10, options);
  CHECK(rows.on_device(queries, 10, options) == expected);
  const size_t before = memory_bytes(rows.device());
  CHECK(rows.on_device(queries, 10, options) == expected);
  CHECK(memory_bytes(rows.device()) == before);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        SearchResult found{std::vector<float>(300), std::vector<int64_t>(300)};
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

TEST_CASE("inverted files: several devices", "[cuda][lists][several]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+2");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const int dim = 96;
  const std::vector<float> x = clustered_rows(5000, dim, 23);
  const ListedRows rows("IVF24," + spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 40, 24);
  std::vector<std::vector<int32_t>> places = {{0, 0}, {0, 0, 0}};
  int32_t count = 0;
  require_ok(polar_cuda_device_count(&count));
  if (count >= 2) places.push_back({1, 0});
  for (const std::vector<int32_t>& devices : places) {
    for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
      const Handle<polar_cuda_index> copy = rows.on(devices, layout);
      CHECK(polar_cuda_index_ntotal(copy.get()) == 5000);
      for (const int64_t k : {1, 10, 700}) {
        for (const float exactness : {2.25F, kEveryRow}) {
          CAPTURE(spec, metric, devices, layout, k, exactness);
          const polar_search_options options = probing(7, exactness);
          CHECK(rows.search(copy.get(), queries, k, options) == rows.on_cpu(queries, k, options));
        }
      }
    }
  }
}

}  // namespace
}  // namespace polarquant::test
