// SPDX-License-Identifier: MIT
// polar_index_explain: what a search would do, of every kind of index.
#include <limits>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 64;
constexpr int64_t kRows = 4000;

IndexHandle filled(const char* description, int64_t rows = kRows) {
  IndexHandle index = make_index(description, kDim, POLAR_METRIC_INNER_PRODUCT);
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
  if (rows > 0) require_ok(polar_index_add(index.get(), rows, x.data(), nullptr));
  return index;
}

polar_search_options one_thread() {
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 1;
  return options;
}

std::string explain(const IndexHandle& index, int64_t nq, int64_t k,
                    const polar_search_options& options) {
  size_t needed = 0;
  require_ok(polar_index_explain(index.get(), nq, k, &options, nullptr, 0, &needed));
  std::string text(needed, ' ');
  size_t again = 0;
  require_ok(
      polar_index_explain(index.get(), nq, k, &options, text.data(), text.size() + 1, &again));
  CHECK(again == needed);
  CHECK(text.back() == '\n');
  return text;
}
std::string explain(const IndexHandle& index, int64_t nq, int64_t k = 10) {
  return explain(index, nq, k, one_thread());
}

bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text << " looked for: " << part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("explain tells the scan of a flat index", "[capi][index][explain]") {
  const IndexHandle index = filled("Polar4");
  const std::string one = explain(index, 1);
  CHECK(has(one, "scan: staged"));
  CHECK(has(one, "rows: 4000\n"));
  CHECK(has(one, "queries: 1, 1 at a time in 1 part, by 1 thread\n"));
  // A word of 64 signs and two factors of 16 bits; 24 bytes more are the code without its signs.
  CHECK(has(one, "stage 1: the bound by the sketch, 12 bytes of every row\n"));
  CHECK(has(one, "24 bytes of about 46 rows a query\n"));
  CHECK(has(one, "of the 11 best by int8 values"));
  // 4,000 · 12, 46 · 24 and 11 · 36 bytes.
  CHECK(has(one, "reads: about 49.5 kB\n"));
  CHECK_FALSE(has(explain(index, 1000), "scan: staged"));

  polar_search_options every_row = one_thread();
  every_row.exactness = std::numeric_limits<float>::infinity();
  const std::string exhaustive = explain(index, 1, 10, every_row);
  CHECK(has(exhaustive, "scan: exhaustive"));
  CHECK(has(exhaustive, "from all 36 bytes of every row\n"));
  CHECK(has(exhaustive, "reads: about 144.0 kB\n"));
  CHECK(has(explain(index, 2, 10, every_row), "scan: dense"));

  const std::vector<uint64_t> bits(kRows / 64 + 1, 1);
  polar_search_options filtered = one_thread();
  const polar_filter filter = bitset_filter(bits.data(), kRows);
  filtered.filter = &filter;
  CHECK(has(explain(index, 1, 10, filtered), "filter: "));
  CHECK_FALSE(has(one, "filter: "));
}

TEST_CASE("explain tells of every kind of index", "[capi][index][explain]") {
  CHECK(has(explain(filled("Polar1"), 1), "scan: exhaustive"));
  CHECK(has(explain(filled("Polar8"), 1), "scan: staged"));
  CHECK(has(explain(filled("PolarTree4.2.2.2"), 1), "rows are decoded to floats"));
  CHECK(has(explain(filled("PolarTree4.2.2.2"), 100), "rounded to bytes"));
  CHECK(
      has(explain(filled("PCA32,Polar4"), 1), "transform: queries of 64 dimensions get 32 first"));
  CHECK(has(explain(filled("IDMap,Polar4"), 1), "scan: staged"));
  const std::string refined = explain(filled("Polar2,RFlat"), 1);
  CHECK(has(refined, "scan: staged"));
  CHECK(has(refined, "refinement: the 10 rows found"));
  CHECK(has(explain(filled("HNSW8,Polar4"), 1),
            "scan: a walk along the links of a graph, which "
            "keeps the best 16 nodes"));
  CHECK(has(explain(filled("Flat"), 1), "scan: FAISS's own: the floats of every row"));
  CHECK(has(explain(filled("IVF8,Flat"), 1), "scan: FAISS's own, of the rows in 1 of 8 lists"));
  CHECK(has(explain(filled("SQ8"), 1), "scan: FAISS's own"));
  CHECK(has(explain(filled("Polar4", 0), 1), "scan: none, since the index holds no rows"));

  IndexHandle waiting = make_index("Polar4", kDim, POLAR_METRIC_L2);
  require_ok(polar_index_add(waiting.get(), 10, normal_rows(10, kDim, 1).data(), nullptr));
  CHECK(has(explain(waiting, 1), "reads: about 2560 bytes a query\n"));
}

TEST_CASE("explain tells the scan of an inverted file", "[capi][index][explain]") {
  const IndexHandle index = filled("IVF16,Polar4");
  polar_search_options options = one_thread();
  options.nprobe = 4;
  const std::string one = explain(index, 1, 10, options);
  CHECK(has(one, "scan: staged"));
  CHECK(has(one, "rows: about 1000 of 4000 a query, in 4 of 16 lists\n"));
  CHECK(has(one, "each goes through its own lists"));
  // 16 lists of 8 queries each are 128 probes.
  CHECK(has(explain(index, 31, 10, options), "each goes through its own lists"));
  const std::string many = explain(index, 32, 10, options);
  CHECK(has(many, "each list is read once"));
  CHECK(has(many, "scan: dense"));
  CHECK(has(many, "reads: about 144.0 kB\n"));
  options.nprobe = 1000;
  CHECK(has(explain(index, 1, 10, options), "in 16 of 16 lists"));
}

TEST_CASE("explain cuts its text and names what it cannot take", "[capi][index][explain]") {
  const IndexHandle index = filled("Polar4");
  size_t needed = 0;
  char text[8] = {};
  require_ok(polar_index_explain(index.get(), 1, 10, nullptr, text, sizeof text, &needed));
  CHECK(std::string(text) == "scan: s");
  CHECK(needed > 100);
  const auto call = [&](int64_t nq, int64_t k, const polar_search_options* options) {
    return polar_index_explain(index.get(), nq, k, options, nullptr, 0, &needed);
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  require_ok(call(int64_t{1} << 40, kMost, nullptr));
  check_failed(call(0, 10, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"nq", "0"});
  check_failed(call((int64_t{1} << 40) + 1, 10, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"nq", "2^40"});
  check_failed(call(1, 0, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"k", "0"});
  polar_search_options options = one_thread();
  options.nprobe = 2;
  check_failed(call(1, 10, &options), POLAR_ERROR_UNSUPPORTED, {"options.nprobe"});
  check_failed(polar_index_explain(nullptr, 1, 10, nullptr, nullptr, 0, &needed),
               POLAR_ERROR_BAD_ARGUMENT, {"index"});
  check_failed(polar_index_explain(index.get(), 1, 10, nullptr, nullptr, 0, nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"needed"});
  const IndexHandle untrained = make_index("IVF4,Polar4", kDim, POLAR_METRIC_L2);
  check_failed(polar_index_explain(untrained.get(), 1, 10, nullptr, nullptr, 0, &needed),
               POLAR_ERROR_NOT_TRAINED, {"train"});
}
