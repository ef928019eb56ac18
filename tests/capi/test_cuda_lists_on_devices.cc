// SPDX-License-Identifier: MIT
// Inverted files on devices, by the C ABI, on devices that are none (plain_devices.h): which rows a
// device is given and asked for, ids, filters, several devices, and what is refused. The library is
// set by test_cuda_places.cc.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 16;

void require_failure(polar_status status, polar_status expected, const std::string& part) {
  INFO(last_error());
  CHECK(status == expected);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
}

/// Rows in lists of the test, most of them in a few, and some lists without any.
struct Sample {
  std::vector<float> x;
  std::vector<int64_t> lists;

  explicit Sample(int64_t n) : x(clustered_rows(std::max<int64_t>(n, 30), kDim, 3)) {
    for (int64_t i = 0; i < n; ++i) lists.push_back(i % 7 == 0 ? 3 : i % 5 == 0 ? 29 : i % 11);
  }
};

/// The lists nearest to a query by inner product: `centroids` are the first rows.
std::set<int64_t> nearest_lists(const Sample& sample, int64_t lists, const float* query,
                                int64_t nprobe) {
  std::vector<std::pair<double, int64_t>> all;
  for (int64_t list = 0; list < lists; ++list) {
    double sum = 0;
    for (int j = 0; j < kDim; ++j)
      sum += static_cast<double>(query[j]) * sample.x[static_cast<size_t>(list * kDim + j)];
    all.emplace_back(-sum, list);
  }
  std::sort(all.begin(), all.end());
  std::set<int64_t> nearest;
  for (int64_t i = 0; i < std::min(nprobe, lists); ++i)
    nearest.insert(all[static_cast<size_t>(i)].second);
  return nearest;
}

TEST_CASE("a copy of an inverted file has the rows of the probed lists", "[capi]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar8", "Polar4+2");
  const int64_t n = GENERATE(1, 64, 700);
  const Sample sample(n);
  const ListedRows rows(spec, 30, kDim, POLAR_METRIC_INNER_PRODUCT, sample.x, sample.lists);
  CHECK(polar_cuda_index_ntotal(rows.device()) == n);
  const std::vector<float> queries = clustered_rows(9, kDim, 4);
  const bool filtered = GENERATE(false, true);
  for (const int64_t nprobe : {1, 4, 30, 31}) {
    polar_search_options options = probing(nprobe, 2.25F);
    const polar_filter filter = range_filter(20, 400);
    if (filtered) options.filter = &filter;
    const SearchResult found = rows.on_device(queries, 800, options);
    for (int64_t q = 0; q < 9; ++q) {
      CAPTURE(spec, n, nprobe, q, filtered);
      const std::set<int64_t> lists = nearest_lists(sample, 30, queries.data() + q * kDim, nprobe);
      std::vector<int64_t> expected;
      for (int64_t id = 0; id < n; ++id) {
        const bool is_kept = !filtered || (id >= 20 && id < 400);
        // A filter that keeps fewer than k rows is looked for in all lists.
        if (is_kept && (filtered || lists.count(sample.lists[static_cast<size_t>(id)]) != 0))
          expected.push_back(id);
      }
      std::vector<int64_t> ids(found.ids.begin() + q * 800, found.ids.begin() + (q + 1) * 800);
      const auto none = std::find(ids.begin(), ids.end(), -1);
      CHECK(std::count(none, ids.end(), -1) == ids.end() - none);
      const auto real = none - ids.begin();
      // Best first, ties to the lower id.
      for (int64_t i = 1; i < real; ++i) {
        const auto at = static_cast<size_t>(q * 800 + i);
        const bool in_order =
            found.scores[at - 1] > found.scores[at] ||
            (found.scores[at - 1] == found.scores[at] && found.ids[at - 1] < found.ids[at]);
        CHECK(in_order);
      }
      std::sort(ids.begin(), none);
      ids.resize(static_cast<size_t>(real));
      CHECK(ids == expected);
    }
  }
}

TEST_CASE("few rows that a filter keeps are scored as the index does", "[capi]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar8", "Polar4+2");
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const Sample sample(2000);
  const ListedRows rows(spec, 30, kDim, metric, sample.x, sample.lists);
  const std::vector<float> queries = clustered_rows(40, kDim, 9);
  std::vector<int64_t> ids;
  for (int64_t id = 3; id < 2000; id += 10) ids.push_back(id);  // more than are scored one by one
  const Handle<polar_cuda_index> shards = rows.on({0, 1, 2}, POLAR_CUDA_SHARDED);
  for (const size_t kept : {1, 5, 16, 200}) {
    const polar_filter filter = id_list_filter(ids.data(), static_cast<int64_t>(kept));
    for (const int64_t k : {1, 7, 300}) {
      CAPTURE(spec, metric, kept, k);
      polar_search_options options = probing(4, 2.25F);
      options.filter = &filter;
      const SearchResult expected = rows.on_cpu(queries, k, options);
      CHECK(rows.on_device(queries, k, options) == expected);
      CHECK(rows.search(shards.get(), queries, k, options) == expected);
    }
  }
}

TEST_CASE("lists that a filter keeps nothing of are passed over", "[capi]") {
  if (!has_indexes()) return;
  const Sample sample(2000);
  const ListedRows rows("Polar2", 30, kDim, POLAR_METRIC_INNER_PRODUCT, sample.x, sample.lists);
  const std::vector<float> queries = clustered_rows(40, kDim, 10);
  // Half of the lists, and all of their rows: more than are scored at once.
  std::vector<int64_t> ids;
  std::set<int64_t> kept;
  for (int64_t id = 0; id < 2000; ++id) {
    const int64_t list = sample.lists[static_cast<size_t>(id)];
    if (list % 2 != 0) continue;
    ids.push_back(id);
    kept.insert(list);
  }
  const polar_filter filter = id_list_filter(ids.data(), std::ssize(ids));
  polar_search_options options = probing(1, 2.25F);
  options.filter = &filter;
  const SearchResult found = rows.on_device(queries, 3, options);
  for (int64_t q = 0; q < 40; ++q) {
    // Some of the nearest that have kept rows, and no others between.
    std::set<int64_t> lists;
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t id = found.ids[static_cast<size_t>(q * 3 + i)];
      REQUIRE(id >= 0);
      lists.insert(sample.lists[static_cast<size_t>(id)]);
    }
    const float* query = queries.data() + q * kDim;
    for (int64_t nprobe = 1; nprobe <= 30; ++nprobe) {
      std::set<int64_t> nearest;
      for (const int64_t list : nearest_lists(sample, 30, query, nprobe))
        if (kept.count(list) != 0) nearest.insert(list);
      if (nearest.size() < 4) continue;  // as many as are searched at most
      CAPTURE(q, nprobe);
      CHECK(std::includes(nearest.begin(), nearest.end(), lists.begin(), lists.end()));
      break;
    }
  }
}

TEST_CASE("an inverted file on several devices finds what one finds", "[capi]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8");
  const int64_t n = GENERATE(1, 300, 2000);
  const Sample sample(n);
  const ListedRows rows(spec, 30, kDim, POLAR_METRIC_L2, sample.x, sample.lists);
  const size_t one = memory_bytes(rows.device());
  for (const std::vector<int32_t>& devices :
       {std::vector<int32_t>{1}, {0, 1, 2}, {2, 1, 0, 2, 1, 0, 2, 1}}) {
    for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
      const Handle<polar_cuda_index> copy = rows.on(devices, layout);
      CHECK(polar_cuda_index_ntotal(copy.get()) == n);
      const size_t bytes = memory_bytes(copy.get());
      CHECK(bytes == (layout == POLAR_CUDA_SHARDED ? one : one * devices.size()));
      for (const int64_t nq : {0, 1, 20}) {
        const std::vector<float> queries = clustered_rows(nq, kDim, 5);
        for (const int64_t k : {1, 10, 1024}) {
          CAPTURE(spec, n, devices, layout, nq, k);
          const polar_search_options options = probing(6, 2.25F);
          CHECK(rows.search(copy.get(), queries, k, options) ==
                rows.on_device(queries, k, options));
        }
      }
    }
  }
}

TEST_CASE("the lists that a copied inverted file looks through", "[capi]") {
  if (!has_indexes()) return;
  const Sample sample(400);
  const ListedRows rows("Polar2", 30, kDim, POLAR_METRIC_L2, sample.x, sample.lists);
  const std::vector<float> queries = clustered_rows(5, kDim, 6);
  const SearchResult from_one = rows.on_device(queries, 9, probing(1, 2.25F));
  CHECK(rows.on_device(queries, 9, probing(0, 2.25F)) == from_one);
  require_ok(polar_index_set_nprobe(rows.index(), 12));
  // The copy was made before.
  CHECK(rows.on_device(queries, 9, probing(0, 2.25F)) == from_one);
  const Handle<polar_cuda_index> copy = rows.on({0}, POLAR_CUDA_SHARDED);
  CHECK(rows.search(copy.get(), queries, 9, probing(0, 2.25F)) ==
        rows.on_device(queries, 9, probing(12, 2.25F)));
}

TEST_CASE("a refinement's rows are scored again, by whichever has them", "[capi]") {
  if (!has_indexes()) return;
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const std::string base = GENERATE("Polar2", "IVF8,Polar2");
  const std::vector<float> x = clustered_rows(3000, kDim, 11);
  const std::vector<float> queries = clustered_rows(20, kDim, 12);
  const ListedRows flat(base + ",RFlat", kDim, metric, x);
  // All rows are found, so that what is returned is the refining index's alone.
  polar_search_options options = search_options(2.25F);
  options.k_factor = 600;
  if (base != "Polar2") options.nprobe = 8;
  CHECK(flat.on_device(queries, 5, options) == flat.on_cpu(queries, 5, options));
  const Handle<polar_cuda_index> shards = flat.on({0, 1, 2}, POLAR_CUDA_SHARDED);
  CHECK(flat.search(shards.get(), queries, 5, options) == flat.on_cpu(queries, 5, options));

  const ListedRows codes(base + ",Refine(Polar8)", kDim, metric, x);
  options.k_factor = 3;
  const SearchResult one = codes.on_device(queries, 7, options);
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    const Handle<polar_cuda_index> copy = codes.on({2, 0, 1}, layout);
    CHECK(codes.search(copy.get(), queries, 7, options) == one);
  }
}

TEST_CASE("options and indexes that are not for devices", "[capi]") {
  const CodedRows flat("Polar2", kDim, POLAR_METRIC_L2, clustered_rows(100, kDim, 7));
  const std::vector<float> query(kDim, 1.0F);
  float score = 0;
  int64_t id = 0;
  const auto refused = [&](const polar_cuda_index* index, const polar_search_options& options,
                           const std::string& part) {
    require_failure(
        polar_cuda_index_search(index, 1, query.data(), 1, &options, nullptr, &score, &id),
        POLAR_ERROR_UNSUPPORTED, part);
  };
  refused(flat.device(), probing(3, 2.25F), "options.nprobe: 3 is for inverted files");
  polar_search_options options = search_options(2.25F);
  options.ef_search = 20;
  refused(flat.device(), options, "options.ef_search: 20 is for HNSW graphs");
  options.ef_search = 0;
  options.k_factor = 2;
  refused(flat.device(), options, "options.k_factor: 2 is for refinements");
  if (!has_indexes()) return;

  const std::vector<float> x = clustered_rows(2000, kDim, 8);
  for (const auto& [description, status, part] :
       {std::tuple{"IVF8_HNSW8,Polar2", POLAR_ERROR_UNSUPPORTED,
                   "does not find its lists by comparing all centroids, as CUDA devices do; "
                   "\"IVF8,Polar2\" does"},
        std::tuple{"IVF8,Flat", POLAR_ERROR_UNSUPPORTED, "in an inverted file"},
        std::tuple{"IVF8,PolarScalar4", POLAR_ERROR_UNSUPPORTED, "in an inverted file"},
        std::tuple{"PCA16,IVF8,Polar2", POLAR_ERROR_UNSUPPORTED, "in an inverted file"}}) {
    INFO(description);
    polar_index* made = nullptr;
    require_ok(polar_index_create(description, kDim, POLAR_METRIC_L2, &made));
    const Handle<polar_index> index(made);
    require_ok(polar_index_train(made, 2000, x.data(), nullptr));
    polar_cuda_index* copy = nullptr;
    require_failure(polar_cuda_index_from_index(made, nullptr, &copy), status, part);
    CHECK(copy == nullptr);
  }
  polar_index* made = nullptr;
  require_ok(polar_index_create("IVF8,Polar2", kDim, POLAR_METRIC_L2, &made));
  const Handle<polar_index> untrained(made);
  polar_cuda_index* copy = nullptr;
  require_failure(polar_cuda_index_from_index(made, nullptr, &copy), POLAR_ERROR_NOT_TRAINED,
                  "is not trained");
}

}  // namespace
}  // namespace polarquant::test
