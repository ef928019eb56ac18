// SPDX-License-Identifier: MIT
// Indexes on several devices give what one device gives, by the C ABI: on devices that are none
// (plain_devices.h), so that arguments, parts, threads, merging and failures are tested everywhere.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "src/core/platform/platform.h"
#include "tests/capi/plain_devices.h"
#include "tests/cuda/cuda_support.h"
#include "tests/support/environment.h"

namespace polarquant::test {
namespace {

/// The library looks for it when a CUDA call first needs it.
const bool is_set = set_environment("POLARQUANT_CUDA_LIBRARY", POLARQUANT_PLAIN_DEVICES);

const PlainDevices& plain_devices() {
  static const PlainDevices* devices = [] {
    REQUIRE(is_set);
    std::string error;
    void* library = platform::open_library(POLARQUANT_PLAIN_DEVICES, &error);
    INFO(error);
    REQUIRE(library != nullptr);
    using EntryPoint = const PlainDevices* (*)();
    return reinterpret_cast<EntryPoint>(platform::find_function(library, kPlainDevicesEntry))();
  }();
  return *devices;
}

std::vector<int32_t> indexes_on_devices() {
  std::vector<int32_t> counts;
  for (int32_t device = 0; device < kPlainDevices; ++device)
    counts.push_back(plain_devices().indexes(device));
  return counts;
}

void require_failure(polar_status status, polar_status expected, const std::string& part) {
  INFO(last_error());
  CHECK(status == expected);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
}

std::vector<float> some_queries(int64_t nq, int dim) { return clustered_rows(nq, dim, 77); }

/// As device 0 alone, with and without filters.
void require_same(const CodedRows& rows, const std::vector<PlacedCopy>& copies,
                  const std::vector<float>& queries, int64_t k) {
  std::vector<polar_search_options> all(4, search_options(2.25F));
  const polar_filter range = range_filter(60, 200);
  all[1].filter = &range;
  const std::vector<uint64_t> bits = {0x8000000000000001, 0, 0xf0f0f0f0f0f0f0f0, ~uint64_t{0}, 5};
  const polar_filter bitset = bitset_filter(bits.data(), 300);
  all[2].filter = &bitset;
  // Its few rows are copied on the devices, where there are enough others.
  const std::vector<uint64_t> few = {0x8000000000000001, 0, 0x10, 0, 0, 1};
  const PreparedFilter prepared(bitset_filter(few.data(), 321));
  all[3].filter = prepared.get();
  for (const polar_search_options& options : all)
    check_copies(rows, copies, queries, k, options, rows.on_device(queries, k, options));
}

TEST_CASE("several devices find what one finds", "[capi]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "Polar4+2");
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  const int64_t n = GENERATE(1, 64, 65, 400);
  const int dim = 24;
  CAPTURE(spec, metric, n);
  const CodedRows rows(spec, dim, metric, clustered_rows(n, dim, 3));
  const std::vector<PlacedCopy> copies =
      copies_of(rows, {{1}, {0, 0}, {0, 1, 2}, {2, 1, 0, 2, 1, 0, 2, 1}});
  for (const int64_t nq : {0, 1, 5, 20}) {
    for (const int64_t k : {1, 10, 1024}) require_same(rows, copies, some_queries(nq, dim), k);
  }
}

TEST_CASE("many queries, and more results than wait at once", "[capi]") {
  const polar_cuda_layout layout = GENERATE(POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  const CodedRows few("Polar2", 8, POLAR_METRIC_L2, clustered_rows(130, 8, 5));
  const CodedRows more("Polar8", 8, POLAR_METRIC_INNER_PRODUCT, clustered_rows(3200, 8, 6));
  const polar_search_options options = search_options(2.25F);
  for (const auto& [rows, nq, k] : {std::tuple{&few, 13000, 3}, std::tuple{&more, 1500, 1000}}) {
    const std::vector<float> queries = some_queries(nq, 8);
    const Handle<polar_cuda_index> index = rows->on({0, 1, 2}, layout);
    CHECK(rows->search(index.get(), queries, k, options) == rows->on_device(queries, k, options));
  }
}

TEST_CASE("an index of several chunks, with ids of its own", "[capi]") {
  polar_index* made = nullptr;
  const polar_status status = polar_index_create("Polar4", 16, POLAR_METRIC_COSINE, &made);
  if (status == POLAR_ERROR_UNSUPPORTED) return;  // built without FAISS
  require_ok(status);
  const Handle<polar_index> index(made);
  const int64_t n = 140010;
  std::vector<int64_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(1000000 - 3 * i);
  const std::vector<float> x = clustered_rows(n, 16, 7);
  require_ok(polar_index_add_with_ids(made, n, x.data(), ids.data(), nullptr));
  polar_search_options options = search_options(2.25F);
  polar_filter filter = range_filter(600000, 990000);
  filter.kind = GENERATE(POLAR_FILTER_NONE, POLAR_FILTER_RANGE);
  options.filter = &filter;
  const auto search = [&](const std::vector<int32_t>& devices, polar_cuda_layout layout) {
    const polar_cuda_options places = places_on(devices, layout);
    polar_cuda_index* copied = nullptr;
    require_ok(polar_cuda_index_from_index(made, &places, &copied));
    const Handle<polar_cuda_index> copy(copied);
    SearchResult found{std::vector<float>(60), std::vector<int64_t>(60)};
    require_ok(polar_cuda_index_search(copied, 3, x.data(), 20, &options, nullptr,
                                       found.scores.data(), found.ids.data()));
    return found;
  };
  const SearchResult expected = search({0}, POLAR_CUDA_SHARDED);
  CHECK(search({2, 0, 1}, POLAR_CUDA_SHARDED) == expected);
  CHECK(search({0, 1}, POLAR_CUDA_REPLICATED) == expected);
}

TEST_CASE("rows that an index keeps as floats are coded for devices", "[capi]") {
  polar_index* made = nullptr;
  const polar_status status = polar_index_create("Polar4", 16, POLAR_METRIC_L2, &made);
  if (status == POLAR_ERROR_UNSUPPORTED) return;  // built without FAISS
  require_ok(status);
  const Handle<polar_index> index(made);
  const int64_t rows = GENERATE(0, 1, 70);
  const std::vector<float> x = clustered_rows(140, 16, 7);
  require_ok(polar_index_add(made, rows, x.data(), nullptr));
  polar_cuda_index* copied = nullptr;
  require_ok(polar_cuda_index_from_index(made, nullptr, &copied));
  const Handle<polar_cuda_index> copy(copied);
  CHECK(polar_cuda_index_ntotal(copied) == rows);
  // The index is as it was.
  if (rows > 0) {
    std::vector<float> row(16);
    require_ok(polar_index_reconstruct(made, 0, row.data()));
    CHECK(std::equal(row.begin(), row.end(), x.begin()));
  }
}

TEST_CASE("what is on which device", "[capi]") {
  const std::vector<int32_t> before = indexes_on_devices();
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(65, 64, 1));
  const size_t all = memory_bytes(rows.device());
  {
    // Two blocks.
    const Handle<polar_cuda_index> sharded = rows.on({2, 1, 0}, POLAR_CUDA_SHARDED);
    CHECK(indexes_on_devices() ==
          std::vector<int32_t>{before[0] + 1, before[1] + 1, before[2] + 1});
    CHECK(memory_bytes(sharded.get()) == all);
    const Handle<polar_cuda_index> copies = rows.on({2, 2, 2}, POLAR_CUDA_REPLICATED);
    CHECK(indexes_on_devices() ==
          std::vector<int32_t>{before[0] + 1, before[1] + 1, before[2] + 4});
    CHECK(memory_bytes(copies.get()) == 3 * all);
    CHECK(polar_cuda_index_ntotal(copies.get()) == 65);
  }
  CHECK(indexes_on_devices() == std::vector<int32_t>{before[0] + 1, before[1], before[2]});
}

TEST_CASE("an index without rows on several devices", "[capi]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, {});
  require_same(rows, copies_of(rows, {{0, 1}}), some_queries(3, 64), 2);
}

TEST_CASE("devices search at the same time", "[capi]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(300, 64, 1));
  const std::vector<float> queries = some_queries(6, 64);
  const polar_search_options options = search_options(2.25F);
  const SearchResult expected = rows.on_device(queries, 4, options);
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    const Handle<polar_cuda_index> index = rows.on({0, 1, 2}, layout);
    plain_devices().meet(3);
    CHECK(rows.search(index.get(), queries, 4, options) == expected);
    plain_devices().meet(0);
  }
}

TEST_CASE("copies take turns where there are few queries", "[capi]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(300, 64, 1));
  const Handle<polar_cuda_index> index = rows.on({0, 1, 2}, POLAR_CUDA_REPLICATED);
  const auto searches = [] {
    std::vector<int64_t> counts;
    for (int32_t device = 0; device < kPlainDevices; ++device)
      counts.push_back(plain_devices().searches(device));
    return counts;
  };
  const std::vector<int64_t> before = searches();
  for (int i = 0; i < 6; ++i)
    rows.search(index.get(), some_queries(1, 64), 4, search_options(2.25F));
  const std::vector<int64_t> after = searches();
  for (size_t device = 0; device < before.size(); ++device)
    CHECK(after[device] - before[device] == 2);
}

TEST_CASE("a failure of one device is the call's", "[capi]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(300, 64, 1));
  const std::vector<float> queries = some_queries(6, 64);
  const polar_cuda_layout layout = GENERATE(POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  const int32_t failing = GENERATE(0, 1, 2);
  const std::string text = "CUDA device " + std::to_string(failing) + ": it is full";
  const std::vector<int32_t> devices = {0, 1, 2};
  polar_cuda_options places;
  polar_cuda_options_init(&places);
  places.devices = devices.data();
  places.num_devices = 3;
  places.layout = layout;

  const std::vector<int32_t> before = indexes_on_devices();
  plain_devices().fail_create(failing, POLAR_ERROR_OUT_OF_MEMORY, "it is full");
  auto* index = reinterpret_cast<polar_cuda_index*>(&places);
  require_failure(rows.try_copy(&places, &index), POLAR_ERROR_OUT_OF_MEMORY, text);
  CHECK(index == nullptr);
  CHECK(indexes_on_devices() == before);
  plain_devices().fail_create(failing, POLAR_OK, "");

  const Handle<polar_cuda_index> made = rows.on(devices, layout);
  const SearchResult expected = rows.on_device(queries, 4, search_options(2.25F));
  SearchResult found = expected;
  plain_devices().fail_search(failing, POLAR_ERROR_CUDA, "it is full");
  require_failure(polar_cuda_index_search(made.get(), 6, queries.data(), 4, nullptr, nullptr,
                                          found.scores.data(), found.ids.data()),
                  POLAR_ERROR_CUDA, text);
  plain_devices().fail_search(failing, POLAR_OK, "");
  CHECK(rows.search(made.get(), queries, 4, search_options(2.25F)) == expected);
}

TEST_CASE("wrong places are refused", "[capi]") {
  const CodedRows rows("Polar2", 96, POLAR_METRIC_L2, clustered_rows(100, 96, 1));
  const std::vector<int32_t> before = indexes_on_devices();
  const auto refused = [&](const std::vector<int32_t>& devices, int32_t count, int32_t layout,
                           const std::string& part) {
    polar_cuda_options options;
    polar_cuda_options_init(&options);
    options.devices = devices.empty() ? nullptr : devices.data();
    options.num_devices = count;
    options.layout = layout;
    polar_cuda_index* index = nullptr;
    require_failure(rows.try_copy(&options, &index), POLAR_ERROR_BAD_ARGUMENT, part);
    CHECK(index == nullptr);
  };
  refused({0, 3}, 2, 0, "options.devices[1]: 3 is not allowed; 0 to 2");
  refused({-1, 0}, 2, 0, "options.devices[0]: -1 is not allowed; 0 or more");
  refused({0}, -1, 0, "options.num_devices: -1 is not allowed; 0 to 64");
  refused({0}, 65, 0, "options.num_devices: 65 is not allowed; 0 to 64");
  refused({}, 2, 0, "options.devices: NULL is not allowed with options.num_devices 2");
  refused({0}, 1, 2, "options.layout: 2 is not allowed; 0 (sharded) or 1 (replicated)");
  refused({0}, 0, -1, "options.layout: -1 is not allowed");
  CHECK(indexes_on_devices() == before);

  polar_codec* made = nullptr;
  require_ok(polar_codec_create("Polar2", 96, POLAR_METRIC_L2, nullptr, &made));
  const Handle<polar_codec> codec(made);
  const int32_t device = 0;
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  options.devices = &device;
  options.num_devices = 1;
  polar_cuda_encoder* encoder = nullptr;
  require_failure(polar_cuda_encoder_create(made, &options, &encoder), POLAR_ERROR_BAD_ARGUMENT,
                  "options.num_devices: 1 is not allowed; 0");
  polar_cuda_codec* on_device = nullptr;
  require_failure(polar_cuda_codec_create(made, &options, &on_device), POLAR_ERROR_BAD_ARGUMENT,
                  "options.num_devices: 1 is not allowed; 0");
}

TEST_CASE("a stream is of one device", "[capi]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(10, 64, 1));
  const std::vector<float> query = some_queries(1, 64);
  int32_t object = 0;
  float score = 0;
  int64_t id = 0;
  for (const polar_cuda_layout layout : {POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED}) {
    // One block of rows, so that the second device has none.
    const Handle<polar_cuda_index> index = rows.on({0, 0}, layout);
    require_failure(
        polar_cuda_index_search(index.get(), 1, query.data(), 1, nullptr, &object, &score, &id),
        POLAR_ERROR_BAD_ARGUMENT, "is not allowed; NULL, since");
  }
  const Handle<polar_cuda_index> one = rows.on({2}, POLAR_CUDA_SHARDED);
  require_ok(polar_cuda_index_search(one.get(), 1, query.data(), 1, nullptr, &object, &score, &id));
}

}  // namespace
}  // namespace polarquant::test
