// SPDX-License-Identifier: MIT
// Queries, results and filters of polar_cuda_index_search in the memory of a device, on devices
// that are none (plain_devices.h): what is used where it lies, what is copied, and what is refused.
// The library is set by test_cuda_places.cc.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/capi/lent_arrays.h"
#include "tests/cuda/listed_rows.h"

namespace polarquant::test {
namespace {

constexpr int64_t kQueries = 7;
constexpr int64_t kResults = 9;

/// Which device's memory each array is in; −1: the host's.
struct Places {
  int32_t queries;
  int32_t scores;
  int32_t ids;
};

constexpr Places kOnHost = {-1, -1, -1};

struct Found {
  SearchResult result;
  polar_status status;
  int64_t copies;  // that the search asked for
};

Found search(const polar_cuda_index* index, const std::vector<float>& queries, const Places& places,
             const polar_search_options& options) {
  LentArray<float> given(queries, places.queries);
  const auto count = static_cast<size_t>(kQueries * kResults);
  LentArray<float> scores(std::vector<float>(count, 77.0F), places.scores);
  LentArray<int64_t> ids(std::vector<int64_t>(count, 77), places.ids);
  const int64_t before = plain_devices().copies();
  const polar_status status = polar_cuda_index_search(index, kQueries, given.data(), kResults,
                                                      &options, nullptr, scores.data(), ids.data());
  return {{scores.values(), ids.values()}, status, plain_devices().copies() - before};
}

std::vector<Places> all_places(int32_t device) {
  std::vector<Places> places;
  for (const int32_t queries : {-1, device})
    for (const int32_t scores : {-1, device})
      for (const int32_t ids : {-1, device}) places.push_back({queries, scores, ids});
  return places;
}

std::vector<float> some_queries() { return clustered_rows(kQueries, kDim, 77); }

TEST_CASE("arrays are used where they lie", "[capi]") {
  const std::string spec = GENERATE("Polar2-norot", "Polar4-norot", "Polar8-norot");
  const PlainRows rows(spec);
  const Handle<polar_cuda_index> index = rows.on({1});
  const polar_search_options options = search_options(2.25F);
  const std::vector<float> queries = some_queries();
  const SearchResult expected = search(index.get(), queries, kOnHost, options).result;
  for (const Places& places : all_places(1)) {
    CAPTURE(spec, places.queries, places.scores, places.ids);
    const Found found = search(index.get(), queries, places, options);
    require_ok(found.status);
    CHECK(found.result == expected);
    CHECK(found.copies == 0);
  }
  // Another device's memory is copied.
  const Found found = search(index.get(), queries, {0, 2, 0}, options);
  require_ok(found.status);
  CHECK(found.result == expected);
  CHECK(found.copies == 3);
}

/// Of arrays anywhere each that lies on a device is copied, and the answer is the host's.
void check_all_copied(const polar_cuda_index* index, const polar_search_options& options) {
  const std::vector<float> queries = some_queries();
  const SearchResult expected = search(index, queries, kOnHost, options).result;
  for (const Places& places : all_places(0)) {
    const Found found = search(index, queries, places, options);
    require_ok(found.status);
    CHECK(found.result == expected);
    CHECK(found.copies == (places.queries + 1) + (places.scores + 1) + (places.ids + 1));
  }
}

TEST_CASE("arrays are copied for several devices", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const polar_cuda_layout layout = GENERATE(POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  const Handle<polar_cuda_index> index = rows.on({0, 1}, layout);
  const polar_search_options options = search_options(2.25F);
  check_all_copied(index.get(), options);
}

TEST_CASE("a bitset in a device's memory", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const std::vector<uint64_t> bits = {0x8000000000000001, 0, 0xf0f0f0f0f0f0f0f0, ~uint64_t{0}, 5};
  const std::vector<float> queries = some_queries();
  for (const int64_t num_bits : {1, 63, 64, 200, 299, 320}) {
    for (const size_t devices : {1, 2}) {
      CAPTURE(num_bits, devices);
      const Handle<polar_cuda_index> index = rows.on(std::vector<int32_t>(devices, 0));
      polar_search_options options = search_options(2.25F);
      polar_filter filter = bitset_filter(bits.data(), num_bits);
      options.filter = &filter;
      const SearchResult expected = search(index.get(), queries, kOnHost, options).result;
      LentArray<uint64_t> lent(bits, 0);
      filter.bitset.words = lent.data();
      const Found found = search(index.get(), queries, {0, 0, 0}, options);
      require_ok(found.status);
      CHECK(found.result == expected);
      CHECK(found.copies == (devices == 1 ? 0 : 4));
    }
  }
}

TEST_CASE("arrays with a prepared filter", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const Handle<polar_cuda_index> index = rows.on({0});
  const polar_filter range = range_filter(60, GENERATE(60, 64, 200));
  const PreparedFilter prepared(range);
  polar_search_options options = search_options(2.25F);
  options.filter = prepared.get();
  check_all_copied(index.get(), options);
}

TEST_CASE("queries in a device's memory are refused as others are", "[capi]") {
  const PlainRows rows("Polar4-norot");
  const Handle<polar_cuda_index> index = rows.on({0});
  std::vector<float> queries = some_queries();
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    queries[3 * kDim + 5] = wrong;
    for (const int32_t device : {-1, 0}) {
      const Found found = search(index.get(), queries, {device, -1, device}, search_options(2.25F));
      CHECK(found.status == POLAR_ERROR_BAD_ARGUMENT);
      CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring("queries: row 3 column 5 is "));
    }
  }
}

TEST_CASE("arrays of an inverted file, and of rows with ids of their own", "[capi]") {
  if (!has_indexes()) return;
  const std::vector<float> x = clustered_rows(400, kDim, 3);
  polar_index* made = nullptr;
  const std::string kind = GENERATE("IVF8,Polar4-norot", "Polar4-norot", "Polar2-norot,RFlat");
  require_ok(polar_index_create(kind.c_str(), kDim, POLAR_METRIC_INNER_PRODUCT, &made));
  const Handle<polar_index> index(made);
  std::vector<int64_t> own(400);
  for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int64_t>(5000 - 3 * i);
  const bool refines = kind.find("RFlat") != std::string::npos;
  const bool has_lists = kind.find("IVF") != std::string::npos;
  require_ok(polar_index_train(made, 400, x.data(), nullptr));
  if (refines) {
    require_ok(polar_index_add(made, 400, x.data(), nullptr));
  } else {
    require_ok(polar_index_add_with_ids(made, 400, x.data(), own.data(), nullptr));
  }
  polar_cuda_index* copied = nullptr;
  require_ok(polar_cuda_index_from_index(made, nullptr, &copied));
  const Handle<polar_cuda_index> copy(copied);
  // A trained codec subtracts a mean, which these devices do not; lists' codecs have none.
  const int32_t queries_at = has_lists || refines ? 0 : -1;
  polar_search_options options = search_options(2.25F);
  if (has_lists) options.nprobe = 3;
  const std::vector<float> queries = some_queries();
  const Found expected = search(copied, queries, kOnHost, options);
  require_ok(expected.status);
  const Found found = search(copied, queries, {queries_at, 0, 0}, options);
  require_ok(found.status);
  CHECK(found.result == expected.result);
  CHECK(found.copies == (refines ? 3 : has_lists ? 2 : 1));
  // A filter over lists may search twice.
  const polar_filter filter = range_filter(100, 4800);
  options.filter = &filter;
  const Found kept = search(copied, queries, {queries_at, 0, 0}, options);
  require_ok(kept.status);
  CHECK(kept.result == search(copied, queries, kOnHost, options).result);
}

}  // namespace
}  // namespace polarquant::test
