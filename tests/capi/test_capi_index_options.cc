// SPDX-License-Identifier: MIT
// What the options of a search change: nprobe, ef_search, exactness, k_factor.
#include <string>
#include <vector>

#include "tests/capi/small_index.h"

using namespace polarquant::test;

TEST_CASE("options say how far inverted files and graphs are searched", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const std::vector<float> queries = normal_rows(20, kDim, 3);
  const auto matches = [&](const IndexHandle& index, const polar_search_options& options) {
    std::vector<float> scores(200);
    std::vector<int64_t> ids(200);
    require_ok(polar_index_search(index.get(), 20, queries.data(), 10, &options, scores.data(),
                                  ids.data()));
    const IndexHandle flat = trained_index("Flat", POLAR_METRIC_L2, x);
    require_ok(polar_index_add(flat.get(), kRows, x.data(), nullptr));
    const Results exact = search(flat, 20, queries.data(), 10);
    int found = 0;
    for (size_t i = 0; i < 200; ++i) {
      const auto first = exact.ids.begin() + static_cast<ptrdiff_t>(i / 10 * 10);
      found += std::find(first, first + 10, ids[i]) != first + 10 ? 1 : 0;
    }
    return found;
  };
  polar_search_options options;
  polar_search_options_init(&options);
  CHECK((options.nprobe == 0 && options.ef_search == 0));
  for (const char* description :
       {"IVF8,Polar4", "IVF8,Flat", "L2norm,IVF8,Polar4", "IVF8,Polar4,RFlat"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_L2, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    options.nprobe = 0;
    const int few = matches(index, options);
    options.nprobe = 8;
    const int most = matches(index, options);
    CHECK(few < most);
    if (std::string(description).find("L2norm") != 0) CHECK(most > 160);
    options.nprobe = 0;
    options.ef_search = 5;
    float score = 0;
    int64_t id = 0;
    check_failed(polar_index_search(index.get(), 1, queries.data(), 1, &options, &score, &id),
                 POLAR_ERROR_UNSUPPORTED, {"options.ef_search: 5"});
    options.ef_search = 0;
  }
  for (const char* description : {"HNSW8,Polar4", "HNSW8,Flat"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_L2, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    options.ef_search = 10;
    const int few = matches(index, options);
    options.ef_search = static_cast<int64_t>(kRows);
    CHECK(few < matches(index, options));
    options.ef_search = 0;
    // Rows that a walk does not come by.
    const std::vector<int64_t> ids = {7, 40, 41, 99};
    const polar_filter kept = id_list_filter(ids.data(), std::ssize(ids));
    options.filter = &kept;
    std::vector<float> scores(5);
    std::vector<int64_t> found(5);
    require_ok(polar_index_search(index.get(), 1, queries.data(), 5, &options, scores.data(),
                                  found.data()));
    CHECK(std::is_permutation(ids.begin(), ids.end(), found.begin()));
    CHECK(found[4] == -1);
    options.filter = nullptr;
    options.nprobe = 3;
    float score = 0;
    int64_t id = 0;
    check_failed(polar_index_search(index.get(), 1, queries.data(), 1, &options, &score, &id),
                 POLAR_ERROR_UNSUPPORTED, {"options.nprobe: 3"});
    options.nprobe = -1;
    check_failed(polar_index_search(index.get(), 1, queries.data(), 1, &options, &score, &id),
                 POLAR_ERROR_BAD_ARGUMENT, {"options.nprobe", "-1"});
    options.nprobe = 0;
  }
}

TEST_CASE("k_factor has a refinement score more rows again", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const std::vector<float> queries = normal_rows(20, kDim, 2);
  const IndexHandle exact_index = trained_index("Flat", POLAR_METRIC_L2, x);
  require_ok(polar_index_add(exact_index.get(), kRows, x.data(), nullptr));
  const Results exact = search(exact_index, 20, queries.data(), 10);
  polar_search_options options;
  polar_search_options_init(&options);
  CHECK(options.k_factor == 0);
  for (const char* description :
       {"Polar2,RFlat", "Polar2,RFlat,IDMap2", "IVF8,Polar2,RFlat", "HNSW8,Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_L2, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    options.nprobe = std::string(description).find("IVF") == 0 ? 8 : 0;
    options.ef_search = std::string(description).find("HNSW") == 0 ? kRows : 0;
    const auto find = [&](double k_factor) {
      options.k_factor = k_factor;
      Results found;
      found.scores.resize(200);
      found.ids.resize(200);
      require_ok(polar_index_search(index.get(), 20, queries.data(), 10, &options,
                                    found.scores.data(), found.ids.data()));
      return found.ids;
    };
    CHECK(find(1) == find(0));
    CHECK(find(0) != exact.ids);
    // Every row is scored again, from its floats.
    CHECK(find(1e300) == exact.ids);
    CHECK(find(kInfinity) == exact.ids);
    const polar_filter filter = range_filter(100, 120);
    options.filter = &filter;
    for (const int64_t id : find(8)) CHECK((id >= 100 && id < 120));
    options.filter = nullptr;
  }
  options.nprobe = options.ef_search = 0;
  float score = 0;
  int64_t id = 0;
  const auto refused = [&](const char* description, double k_factor, polar_status status,
                           std::vector<std::string> parts) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_L2, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    options.k_factor = k_factor;
    check_failed(polar_index_search(index.get(), 1, queries.data(), 1, &options, &score, &id),
                 status, parts);
  };
  refused("Polar2", 2, POLAR_ERROR_UNSUPPORTED, {"options.k_factor: 2", "refinements"});
  refused("Flat", 2, POLAR_ERROR_UNSUPPORTED, {"options.k_factor: 2"});
  for (const double bad : {.5, -1.0, static_cast<double>(kNan)}) {
    refused("Polar2,RFlat", bad, POLAR_ERROR_BAD_ARGUMENT, {"options.k_factor", "1 to infinity"});
  }
}
