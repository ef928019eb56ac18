// SPDX-License-Identifier: MIT
// The index calls of the C ABI: our specs, compositions and FAISS's own indexes behave alike.
#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/core/threads.h"
#include "tests/capi/small_index.h"
#include "tests/support/forked_child.h"

using namespace polarquant::test;

namespace {

struct Composition {
  const char* description;
  bool takes_ids;
  bool reconstructs;
  size_t code_bytes;  // 0: not told
};

// Polar4 takes 8 bytes and 4 of factors; a list of 12 rows keeps its 16-dim code as it is.
const Composition kCompositions[] = {
    {"Polar4", true, true, 12},
    {"PCA8,Polar4", true, true, 8},
    {"L2norm,Polar4", true, true, 12},
    {"IDMap,Polar4", true, false, 12},
    {"IDMap2,Polar4", true, true, 12},
    {"Polar2,RFlat", false, true, 8 + 64},
    {"Polar2,Refine(Polar8)", false, true, 8 + 24},
    {"Polar2,RFlat,IDMap2", true, true, 8 + 64},
    {"Flat", false, true, 64},
    {"SQ8", false, true, 16},
    {"IDMap2,Flat", true, true, 64},
    {"Flat,IDMap2", true, true, 64},
    {"HNSW8,Flat", false, true, 64},
    {"HNSW8,Polar4", false, true, 12},
    {"HNSW8x,Polar8", false, true, 24},
    {"IDMap2,HNSW8,Polar4", true, true, 12},
    {"HNSW8,Flat,IDMap2", true, true, 64},
    {"IVF4,Flat", true, true, 64},
    {"IVF4,PQ4x4", true, true, 2},
    {"PCA8,IVF4,SQ8", true, true, 8},
    {"IVF4(Polar8),SQ8", true, true, 16},
};

const polar_metric kMetrics[] = {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE};

/// 1000, 1003, … : ids of the caller's for rows 0, 1, …
std::vector<int64_t> caller_ids(int64_t n, int64_t first = 1000) {
  std::vector<int64_t> ids(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) ids[static_cast<size_t>(i)] = first + 3 * i;
  return ids;
}

void check_order(const Results& results, int64_t nq, int64_t k, polar_metric metric) {
  const float worst = metric == POLAR_METRIC_L2 ? kInfinity : -kInfinity;
  for (int64_t query = 0; query < nq; ++query) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < k; ++i) {
      const auto at = static_cast<size_t>(query * k + i);
      if (results.ids[at] < 0) {
        CHECK(results.ids[at] == -1);
        CHECK(results.scores[at] == worst);
      } else {
        CHECK(std::isfinite(results.scores[at]));
        CHECK(seen.insert(results.ids[at]).second);
      }
      if (i == 0) continue;
      CHECK((metric == POLAR_METRIC_L2 ? results.scores[at - 1] <= results.scores[at]
                                       : results.scores[at - 1] >= results.scores[at]));
    }
  }
}

}  // namespace

TEST_CASE("every composition adds, searches and reconstructs, without ids", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  for (const Composition& row : kCompositions) {
    for (const polar_metric metric : kMetrics) {
      INFO(row.description << " metric " << metric);
      const IndexHandle index = trained_index(row.description, metric, x);
      require_ok(polar_index_add(index.get(), kRows / 2, x.data(), nullptr));
      require_ok(polar_index_add(index.get(), kRows / 2, x.data() + kRows / 2 * kDim, nullptr));
      require_ok(polar_index_add(index.get(), 0, nullptr, nullptr));
      CHECK(polar_index_ntotal(index.get()) == kRows);

      const Results found = search(index, 20, x.data(), 8);
      check_order(found, 20, 8, metric);
      int found_itself = 0;
      for (int64_t query = 0; query < 20; ++query) {
        const auto* first = found.ids.data() + query * 8;
        found_itself += std::find(first, first + 8, query) != first + 8;
      }
      CHECK(found_itself >= 17);

      std::vector<float> rebuilt(kDim);
      const polar_status status = polar_index_reconstruct(index.get(), 5, rebuilt.data());
      if (row.reconstructs) {
        require_ok(status);
        std::vector<float> expected(x.begin() + 5 * kDim, x.begin() + 6 * kDim);
        if (metric == POLAR_METRIC_COSINE || std::string(row.description).starts_with("L2norm")) {
          const double norm = std::sqrt(dot(expected.data(), expected.data(), kDim));
          for (float& value : expected) value = static_cast<float>(value / norm);
        }
        CHECK(distance(rebuilt.data(), expected.data(), kDim) <
              0.7 * dot(expected.data(), expected.data(), kDim));
      } else {
        check_failed(status, POLAR_ERROR_UNSUPPORTED, {row.description, "reconstruct"});
      }
      size_t bytes = 0;
      require_ok(polar_index_code_size(index.get(), &bytes));
      CHECK(bytes == row.code_bytes);
    }
  }
}

TEST_CASE("every composition that takes ids gives them back, and no other", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const std::vector<int64_t> ids = caller_ids(kRows);
  for (const Composition& row : kCompositions) {
    INFO(row.description);
    const IndexHandle index = trained_index(row.description, POLAR_METRIC_L2, x);
    const polar_status status =
        polar_index_add_with_ids(index.get(), 100, x.data(), ids.data(), nullptr);
    if (!row.takes_ids) {
      check_failed(status, POLAR_ERROR_UNSUPPORTED, {row.description, ",IDMap2"});
      CHECK(polar_index_ntotal(index.get()) == 0);
      continue;
    }
    require_ok(status);
    require_ok(polar_index_add_with_ids(index.get(), kRows - 100, x.data() + 100 * kDim,
                                        ids.data() + 100, nullptr));
    CHECK(polar_index_ntotal(index.get()) == kRows);
    const Results found = search(index, 3, x.data() + 50 * kDim, 4);
    for (const int64_t id : found.ids) CHECK((id >= 1000 && (id - 1000) % 3 == 0));

    std::vector<float> rebuilt(kDim, kNan);
    for (const int64_t missing : {int64_t{0}, int64_t{50}, int64_t{1001}, int64_t{-1}, INT64_MAX}) {
      check_failed(polar_index_reconstruct(index.get(), missing, rebuilt.data()),
                   POLAR_ERROR_NOT_FOUND, {"id", std::to_string(missing)});
    }
    if (row.reconstructs) {
      require_ok(polar_index_reconstruct(index.get(), 1000 + 3 * 150, rebuilt.data()));
      CHECK(distance(rebuilt.data(), x.data() + 150 * kDim, kDim) < 1.2 * kDim);
    }
  }
}

TEST_CASE("an index pads with id -1 and the worst score", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  for (const Composition& row : kCompositions) {
    for (const polar_metric metric : {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2}) {
      INFO(row.description << " metric " << metric);
      const IndexHandle index = trained_index(row.description, metric, x);
      for (const int64_t rows_before : {int64_t{0}, int64_t{3}}) {
        if (rows_before > 0)
          require_ok(polar_index_add(index.get(), rows_before, x.data(), nullptr));
        const Results found = search(index, 2, x.data(), 9);
        check_order(found, 2, 9, metric);
        for (int64_t query = 0; query < 2; ++query) {
          const auto first = found.ids.begin() + query * 9;
          CHECK(std::all_of(first + rows_before, first + 9, [](int64_t id) { return id == -1; }));
        }
      }
      require_ok(polar_index_search(index.get(), 0, nullptr, 5, nullptr, nullptr, nullptr));
    }
  }
}

TEST_CASE("our flat index scores as the codec does", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1, 0.5);
  for (const polar_metric metric : kMetrics) {
    INFO("metric " << metric);
    const IndexHandle index = trained_index("Polar4", metric, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    const CodecHandle codec = make_codec("Polar4", kDim, metric);
    require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
    const std::vector<uint8_t> codes = encode(codec, kRows, x);
    Results expected{std::vector<float>(50), std::vector<int64_t>(50)};
    require_ok(polar_codec_search(codec.get(), 5, x.data(), kRows, codes.data(), codes.size(), 10,
                                  nullptr, expected.scores.data(), expected.ids.data()));
    CHECK(search(index, 5, x.data(), 10) == expected);
  }
}

TEST_CASE("cosine indexes do not see lengths and keep zero rows", "[capi]") {
  std::vector<float> x = normal_rows(kRows, kDim, 1);
  std::fill_n(x.begin() + 3 * kDim, kDim, 0.0f);
  std::vector<float> scaled = x;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= i / kDim % 2 == 0 ? 0x1p40f : 0x1p-40f;
  for (const char* description : {"Polar4", "Flat", "IVF4,Flat"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_COSINE, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    const IndexHandle other = trained_index(description, POLAR_METRIC_COSINE, scaled);
    require_ok(polar_index_add(other.get(), kRows, scaled.data(), nullptr));
    CHECK(search(index, 6, x.data(), 10) == search(other, 6, scaled.data(), 10));
    std::vector<float> zero(kDim, kNan);
    require_ok(polar_index_reconstruct(index.get(), 3, zero.data()));
    for (const float value : zero) CHECK(std::fabs(value) < 0.2f);
  }
}

TEST_CASE("the first rows set an untrained index's centre and unit", "[capi]") {
  constexpr int64_t kMany = 1200;
  std::vector<float> x = normal_rows(kMany, kDim, 1);
  for (float& value : x) value *= 1e6f;  // far outside float16 in units of 1
  const IndexHandle index = make_index("Polar2", kDim, POLAR_METRIC_L2);
  CHECK(polar_index_is_trained(index.get()) == 1);
  const int64_t piece = GENERATE(int64_t{1}, int64_t{99}, int64_t{1200});
  for (int64_t at = 0; at < kMany; at += piece)
    require_ok(
        polar_index_add(index.get(), std::min(piece, kMany - at), x.data() + at * kDim, nullptr));
  CHECK(search(index, 1, x.data(), 1).ids[0] == 0);
}

TEST_CASE("training codes rows that are floats, and no others", "[capi]") {
  const polar_metric metric = GENERATE(POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const IndexHandle late = make_index("Polar4", kDim, metric);
  require_ok(polar_index_add(late.get(), 100, x.data(), nullptr));
  require_ok(polar_index_train(late.get(), kRows, x.data(), nullptr));
  const IndexHandle early = trained_index("Polar4", metric, x);
  require_ok(polar_index_add(early.get(), 100, x.data(), nullptr));
  CHECK(search(late, 5, x.data(), 10) == search(early, 5, x.data(), 10));
  check_failed(polar_index_train(late.get(), kRows, x.data(), nullptr), POLAR_ERROR_STATE_MISMATCH,
               {"index: holds 100 rows"});
  const IndexHandle map = make_index("IDMap2,Polar4", kDim, metric);
  require_ok(polar_index_add(map.get(), 100, x.data(), nullptr));
  check_failed(polar_index_train(map.get(), kRows, x.data(), nullptr), POLAR_ERROR_STATE_MISMATCH,
               {"index: holds 100 rows"});
}

TEST_CASE("training again starts anew", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const std::vector<float> other = normal_rows(kRows, kDim, 2, 3.0);
  for (const char* description : {"Polar2", "IVF4,Flat", "PCA8,Polar4"}) {
    INFO(description);
    const IndexHandle once = trained_index(description, POLAR_METRIC_L2, x);
    const IndexHandle twice = trained_index(description, POLAR_METRIC_L2, other);
    require_ok(polar_index_train(twice.get(), kRows, x.data(), nullptr));
    require_ok(polar_index_add(once.get(), kRows, x.data(), nullptr));
    require_ok(polar_index_add(twice.get(), kRows, x.data(), nullptr));
    CHECK(search(once, 5, x.data(), 10) == search(twice, 5, x.data(), 10));
  }
}

TEST_CASE("num_threads changes no result and no setting", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  for (const char* description : {"Polar4", "Flat", "IVF4,PQ4x4"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_INNER_PRODUCT, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    const int before = polarquant::default_threads();
    const Results expected = search(index, 30, x.data(), 10, 1);
    for (const int32_t threads : {0, 2, 3, 1024}) {
      CHECK(search(index, threads == 1024 ? 1 : 30, x.data(), 10, threads).ids[0] ==
            expected.ids[0]);
      CHECK(polarquant::default_threads() == before);
    }
    CHECK(search(index, 30, x.data(), 10, 3) == expected);
  }
}

TEST_CASE("many threads may search one index at a time", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  const IndexHandle index = trained_index("Polar2", POLAR_METRIC_L2, x);
  require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
  const Results expected = search(index, 10, x.data(), 10);
  std::vector<int> wrong(3);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        Results found = expected;
        std::fill(found.ids.begin(), found.ids.end(), -7);
        const polar_search_options options = searching_on(2);
        const bool ok = polar_index_search(index.get(), 10, x.data(), 10, &options,
                                           found.scores.data(), found.ids.data()) == POLAR_OK;
        if (!ok || !(found == expected)) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3));
}

TEST_CASE("a forked child searches an index without hanging", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  for (const char* description : {"Polar2", "Flat", "IVF4,Flat", "PCA8,Polar4"}) {
    INFO(description);
    const IndexHandle index = trained_index(description, POLAR_METRIC_L2, x);
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    const Results expected = search(index, 50, x.data(), 10, 2);  // there are threads now
    CHECK(run_in_child([&] {
            Results found = expected;
            const polar_search_options options = searching_on(4);
            return polar_index_search(index.get(), 50, x.data(), 10, &options, found.scores.data(),
                                      found.ids.data()) == POLAR_OK &&
                   found.ids == expected.ids;
          }) == ChildEnd::right);
  }
}
