// SPDX-License-Identifier: MIT
// Filters over inverted files on a device: which lists are searched, and which rows are scored
// without lists, follow from what the filter keeps. Rows and scores are the CPU's, to the bit.
#include <algorithm>

#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

TEST_CASE("inverted files: filters", "[cuda][lists]") {
  if (!has_indexes()) return;
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar1.5", "Polar4+2", "Polar8");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const int dim = 96;
  const std::vector<float> x = clustered_rows(5000, dim, 15);
  const ListedRows rows("IVF25," + spec, dim, metric, x);
  const std::vector<float> queries = queries_near(x, dim, 20, 16);
  const std::vector<uint64_t> bits(70, 0x1000200030004001);
  const std::vector<int64_t> ids = {3, 64, 65, 4000, 4999};
  CAPTURE(spec, metric);
  for (const float exactness : {2.25F, kEveryRow}) {
    polar_search_options options = probing(6, exactness);
    polar_filter filter = bitset_filter(bits.data(), 4444);
    options.filter = &filter;
    rows.compare(first_of(queries, dim, 1), 10, options);
    rows.compare(queries, 10, options);
    filter = id_list_filter(ids.data(), 5);
    rows.compare(queries, 3, options);
    filter = range_filter(1000, 1100);
    rows.compare(queries, 10, options);
    int64_t least = 0;
    const polar_keep_fn keep_and_note = [](void* user, int64_t id) {
      auto* asked = static_cast<int64_t*>(user);
      *asked = std::min(*asked, id);
      return static_cast<int32_t>(id % 3 == 0);
    };
    filter = callback_filter(keep_and_note, &least);
    const SearchResult device = rows.on_device(queries, 10, options);
    CHECK(least == 0);  // spare rows after lists are none
    filter = callback_filter([](void*, int64_t id) { return static_cast<int32_t>(id % 3 == 0); });
    CHECK(device == rows.on_cpu(queries, 10, options));
  }
}

/// Every so many ids of 20,000, as bits.
std::vector<uint64_t> every(int64_t divisor) {
  std::vector<uint64_t> bits(20000 / 64 + 1);
  for (int64_t id = 0; id < 20000; id += divisor)
    bits[static_cast<size_t>(id / 64)] |= uint64_t{1} << id % 64;
  return bits;
}

TEST_CASE("inverted files: filters of every share, for few and many queries", "[cuda][lists]") {
  if (!has_indexes()) return;
  const int dim = 64;
  const polar_metric metric = GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2);
  const std::vector<float> x = clustered_rows(20000, dim, 25);
  const bool has_ids = GENERATE(false, true);
  std::vector<int64_t> ids(has_ids ? 20000 : 0);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>((i * 7919) % 20000);
  const ListedRows rows("IVF100,Polar2", dim, metric, x, ids);
  const std::vector<float> queries = queries_near(x, dim, 300, 26);
  for (const int64_t divisor : {1, 2, 7, 9, 40, 100, 400, 3000}) {
    const std::vector<uint64_t> bits = every(divisor);
    const polar_filter filter = bitset_filter(bits.data(), 20000);
    for (const int64_t nprobe : {1, 8, 60}) {
      for (const float exactness : {2.25F, kEveryRow}) {
        CAPTURE(metric, has_ids, divisor);
        polar_search_options options = probing(nprobe, exactness);
        options.filter = &filter;
        for (const int64_t nq : {1, 9, 300})
          rows.compare(first_of(queries, dim, nq), nq == 9 ? 100 : 10, options);
      }
    }
  }
}

TEST_CASE("inverted files: prepared filters, before and after rows that they keep are copied",
          "[cuda][lists]") {
  if (!has_indexes()) return;
  const int dim = 64;
  const std::string spec = GENERATE("Polar2", "Polar4-pca");
  const std::vector<float> x = falling_rows(20000, dim, .5, 27);
  const ListedRows rows("IVF100," + spec, dim, POLAR_METRIC_INNER_PRODUCT, x);
  const std::vector<float> queries = queries_near(x, dim, 40, 28);
  for (const int64_t divisor : {2, 9, 50, 600}) {
    const std::vector<uint64_t> bits = every(divisor);
    const PreparedFilter prepared(bitset_filter(bits.data(), 20000));
    polar_search_options options = probing(5, 2.25F);
    options.filter = prepared.get();
    for (int64_t i = 0; i < 12; ++i) {
      CAPTURE(spec, divisor, i);
      rows.compare({queries.begin() + i * dim, queries.begin() + (i + 1) * dim}, 10, options);
    }
    rows.compare(queries, 50, options);
  }
}

TEST_CASE("inverted files: filters on several devices", "[cuda][lists][several]") {
  if (!has_indexes()) return;
  const int dim = 64;
  const std::vector<float> x = clustered_rows(20000, dim, 29);
  const ListedRows rows("IVF100,Polar2", dim, POLAR_METRIC_L2, x);
  const std::vector<float> queries = queries_near(x, dim, 60, 30);
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    const Handle<polar_cuda_index> copy = rows.on({0, 0, 0}, layout);
    for (const int64_t divisor : {3, 20, 500}) {
      const std::vector<uint64_t> bits = every(divisor);
      const polar_filter filter = bitset_filter(bits.data(), 20000);
      polar_search_options options = probing(5, 2.25F);
      options.filter = &filter;
      for (const int64_t nq : {1, 60}) {
        CAPTURE(layout, divisor, nq);
        const std::vector<float> some = first_of(queries, dim, nq);
        CHECK(rows.search(copy.get(), some, 10, options) == rows.on_cpu(some, 10, options));
      }
    }
  }
}

}  // namespace
}  // namespace polarquant::test
