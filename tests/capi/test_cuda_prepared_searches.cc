// SPDX-License-Identifier: MIT
// What polar_cuda_search_… ask of a device, and what they refuse, on devices that are none
// (plain_devices.h). The library is set by test_cuda_places.cc.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/capi/lent_arrays.h"
#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

constexpr int64_t kQueries = 6;
constexpr int64_t kResults = 11;

std::vector<float> some_queries() { return clustered_rows(kQueries, kDim, 77); }

Handle<polar_cuda_search> prepare(const polar_cuda_index* index,
                                  const polar_search_options& options) {
  polar_cuda_search* search = nullptr;
  require_ok(polar_cuda_search_create(index, kQueries, kResults, &options, &search));
  return Handle<polar_cuda_search>(search);
}

/// The arrays of a start, in a device's memory, or the host's: −1.
struct StartArrays {
  StartArrays(const std::vector<float>& given, int32_t device)
      : queries(given, device),
        scores(std::vector<float>(kQueries * kResults, 77.0F), device),
        ids(std::vector<int64_t>(kQueries * kResults, 77), device),
        unfinished({77}, device) {}

  polar_status start(const polar_cuda_search* search) {
    return polar_cuda_search_start(search, queries.data(), nullptr, scores.data(), ids.data(),
                                   unfinished.data());
  }
  SearchResult found() const { return {scores.values(), ids.values()}; }

  LentArray<float> queries;
  LentArray<float> scores;
  LentArray<int64_t> ids;
  LentArray<int32_t> unfinished;
};

SearchResult search(const polar_cuda_index* index, const std::vector<float>& queries,
                    const polar_search_options& options) {
  SearchResult found{std::vector<float>(kQueries * kResults),
                     std::vector<int64_t>(kQueries * kResults)};
  require_ok(polar_cuda_index_search(index, kQueries, queries.data(), kResults, &options, nullptr,
                                     found.scores.data(), found.ids.data()));
  return found;
}

TEST_CASE("a prepared search finds what one that is waited for does", "[capi]") {
  const std::string spec = GENERATE("Polar2-norot", "Polar4-norot", "Polar8-norot");
  const PlainRows rows(spec);
  Handle<polar_cuda_index> index = rows.on({1});
  const std::vector<uint64_t> bits = {0x8000000000000001, 0, 0xf0f0f0f0f0f0f0f0, ~uint64_t{0}, 5};
  LentArray<uint64_t> lent(bits, 1);
  polar_filter on_host = bitset_filter(bits.data(), 299);
  polar_filter there = bitset_filter(lent.data(), 299);
  const PreparedFilter prepared(on_host);
  for (const polar_filter* filter :
       {static_cast<const polar_filter*>(nullptr), static_cast<const polar_filter*>(&on_host),
        static_cast<const polar_filter*>(&there), prepared.get()}) {
    polar_search_options options = search_options(2.25F);
    options.filter = filter;
    const Handle<polar_cuda_search> made = prepare(index.get(), options);
    for (const uint64_t seed : {4, 5}) {
      const std::vector<float> queries = clustered_rows(kQueries, kDim, seed);
      StartArrays arrays(queries, 1);
      const int64_t before = plain_devices().copies();
      require_ok(arrays.start(made.get()));
      CHECK(plain_devices().copies() == before);
      CHECK(arrays.unfinished.values().front() == 0);
      CHECK(arrays.found() == search(index.get(), queries, options));
    }
  }
}

TEST_CASE("a prepared search keeps its index", "[capi]") {
  const PlainRows rows("Polar4-norot");
  Handle<polar_cuda_index> index = rows.on({2});
  const polar_search_options options = search_options(2.25F);
  const SearchResult expected = search(index.get(), some_queries(), options);
  Handle<polar_cuda_search> made = prepare(index.get(), options);
  index.reset();
  CHECK(plain_devices().indexes(2) == 1);
  StartArrays arrays(some_queries(), 2);
  require_ok(arrays.start(made.get()));
  CHECK(arrays.found() == expected);
  made.reset();
  CHECK(plain_devices().indexes(2) == 0);
}

TEST_CASE("a prepared search gives ids of the caller's", "[capi]") {
  if (!has_indexes()) return;
  const std::vector<float> x = clustered_rows(400, kDim, 3);
  polar_index* made = nullptr;
  require_ok(polar_index_create("Polar4-norot", kDim, POLAR_METRIC_INNER_PRODUCT, &made));
  const Handle<polar_index> index(made);
  std::vector<int64_t> own(400);
  for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int64_t>(5000 - 3 * i);
  require_ok(polar_index_add_with_ids(made, 400, x.data(), own.data(), nullptr));
  polar_cuda_index* copied = nullptr;
  require_ok(polar_cuda_index_from_index(made, nullptr, &copied));
  const Handle<polar_cuda_index> copy(copied);
  const polar_search_options options = search_options(2.25F);
  const Handle<polar_cuda_search> prepared = prepare(copied, options);
  StartArrays arrays(some_queries(), 0);
  require_ok(arrays.start(prepared.get()));
  // These devices take queries as they are, without the mean of the first rows: other scores, but
  // ids of rows that are there.
  for (const int64_t id : arrays.ids.values())
    CHECK(std::find(own.begin(), own.end(), id) != own.end());
}

TEST_CASE("a prepared search tells of a query that is not finite", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const Handle<polar_cuda_index> index = rows.on({0});
  const Handle<polar_cuda_search> made = prepare(index.get(), search_options(2.25F));
  std::vector<float> queries = some_queries();
  queries[2 * kDim + 1] = std::nanf("");
  StartArrays arrays(queries, 0);
  require_ok(arrays.start(made.get()));
  CHECK(arrays.unfinished.values().front() == 1);
}

TEST_CASE("what prepared searches refuse", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const Handle<polar_cuda_index> index = rows.on({1});
  polar_search_options options = search_options(2.25F);
  polar_cuda_search* out = nullptr;
  const auto refuses = [&](const polar_cuda_index* from, int64_t nq, int64_t k, polar_status status,
                           const std::string& text) {
    CAPTURE(nq, k, text);
    CHECK(polar_cuda_search_create(from, nq, k, &options, &out) == status);
    CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(text));
    CHECK(out == nullptr);
  };
  refuses(nullptr, 1, 1, POLAR_ERROR_BAD_ARGUMENT, "index: NULL");
  refuses(index.get(), 0, 1, POLAR_ERROR_BAD_ARGUMENT, "nq: 0 is not allowed");
  refuses(index.get(), 1, 0, POLAR_ERROR_BAD_ARGUMENT, "k: 0 is not allowed");
  refuses(index.get(), int64_t{1} << 60, 1, POLAR_ERROR_BAD_ARGUMENT, "nq: ");
  refuses(index.get(), 2, int64_t{1} << 61, POLAR_ERROR_BAD_ARGUMENT, "k: ");
  options.exactness = -1;
  refuses(index.get(), 1, 1, POLAR_ERROR_BAD_ARGUMENT, "options.exactness: -1");
  options = search_options(2.25F);
  options.nprobe = 3;
  refuses(index.get(), 1, 1, POLAR_ERROR_UNSUPPORTED, "options.nprobe: 3");
  options.nprobe = 0;
  const Handle<polar_cuda_index> several = rows.on({0, 1});
  refuses(several.get(), 1, 1, POLAR_ERROR_UNSUPPORTED, "index: it is on 2 devices");
  CHECK(polar_cuda_search_create(index.get(), 1, 1, &options, nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  plain_devices().fail_create(1, POLAR_ERROR_OUT_OF_MEMORY, "cudaMalloc: no memory");
  refuses(index.get(), 1, 1, POLAR_ERROR_OUT_OF_MEMORY, "CUDA device 1: cudaMalloc: no memory");
  plain_devices().fail_create(1, 0, "");

  const Handle<polar_cuda_search> made = prepare(index.get(), options);
  StartArrays there(some_queries(), 1);
  StartArrays elsewhere(some_queries(), 2);
  StartArrays on_host(some_queries(), -1);
  CHECK(there.start(nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(on_host.start(made.get()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error() == "queries: host memory is not allowed; memory of CUDA device 1");
  CHECK(elsewhere.start(made.get()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(last_error() == "queries: memory of CUDA device 2 is not allowed; of device 1");
  CHECK(polar_cuda_search_start(made.get(), there.queries.data(), nullptr, there.scores.data(),
                                on_host.ids.data(),
                                there.unfinished.data()) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring("ids: host memory"));
  CHECK(polar_cuda_search_start(made.get(), there.queries.data(), nullptr, there.scores.data(),
                                there.ids.data(), nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring("unfinished: NULL"));
  plain_devices().fail_search(1, POLAR_ERROR_CUDA, "a launch failed");
  CHECK(there.start(made.get()) == POLAR_ERROR_CUDA);
  plain_devices().fail_search(1, 0, "");
  require_ok(there.start(made.get()));
  size_t bytes = 0;
  require_ok(polar_cuda_search_memory_bytes(made.get(), &bytes));
  CHECK(bytes > 0);
  CHECK(polar_cuda_search_memory_bytes(nullptr, &bytes) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_cuda_search_memory_bytes(made.get(), nullptr) == POLAR_ERROR_BAD_ARGUMENT);
  polar_cuda_search_destroy(nullptr);
}

}  // namespace
}  // namespace polarquant::test
