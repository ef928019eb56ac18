// SPDX-License-Identifier: MIT
// The CUDA calls themselves: arguments, devices, and what is refused.
#include <cstring>

#include "tests/cuda/cuda_support.h"

namespace polarquant::test {
namespace {

void require_failure(polar_status status, polar_status expected, const std::string& part) {
  INFO(last_error());
  CHECK(status == expected);
  CHECK_THAT(last_error(), Catch::Matchers::ContainsSubstring(part));
}

Handle<polar_codec> make_codec(const char* spec, int dim) {
  polar_codec* codec = nullptr;
  require_ok(polar_codec_create(spec, dim, POLAR_METRIC_INNER_PRODUCT, nullptr, &codec));
  return Handle<polar_codec>(codec);
}

TEST_CASE("arguments are checked without a device", "[no-device][cuda]") {
  require_failure(polar_cuda_device_count(nullptr), POLAR_ERROR_BAD_ARGUMENT, "count: NULL");
  require_failure(polar_cuda_get_device_info(0, nullptr), POLAR_ERROR_BAD_ARGUMENT, "info: NULL");
  polar_cuda_index* index = nullptr;
  require_failure(polar_cuda_index_from_index(nullptr, nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT,
                  "out: NULL");
  require_failure(polar_cuda_index_from_codes(nullptr, 0, nullptr, 0, nullptr, &index),
                  POLAR_ERROR_BAD_ARGUMENT, "codec: NULL");
  const Handle<polar_codec> tree = make_codec("PolarTree4.2.2.2", 64);
  require_failure(polar_cuda_index_from_codes(tree.get(), 0, nullptr, 0, nullptr, &index),
                  POLAR_ERROR_UNSUPPORTED, "no int8 values");
  const Handle<polar_codec> codec = make_codec("Polar2", 64);
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.device == 0);
  options.device = -1;
  require_failure(polar_cuda_index_from_codes(codec.get(), 0, nullptr, 0, &options, &index),
                  POLAR_ERROR_BAD_ARGUMENT, "options.device: -1");
  polar_cuda_options_init(&options);
  options.num_devices = 2;
  require_failure(polar_cuda_index_from_codes(codec.get(), 0, nullptr, 0, &options, &index),
                  POLAR_ERROR_BAD_ARGUMENT, "options.devices: NULL");
  CHECK(index == nullptr);
  polar_cuda_index_destroy(nullptr);
  polar_cuda_options_init(nullptr);
  CHECK(polar_cuda_index_ntotal(nullptr) == 0);
  size_t bytes = 0;
  CHECK(polar_cuda_index_memory_bytes(nullptr, &bytes) == POLAR_ERROR_BAD_ARGUMENT);
  float score = 0;
  int64_t id = 0;
  require_failure(polar_cuda_index_search(nullptr, 0, nullptr, 1, nullptr, nullptr, &score, &id),
                  POLAR_ERROR_BAD_ARGUMENT, "index: NULL");
}

TEST_CASE("devices", "[cuda]") {
  int32_t count = 0;
  require_ok(polar_cuda_device_count(&count));
  REQUIRE(count >= 1);
  polar_cuda_device_info info;
  std::memset(&info, 77, sizeof info);
  info.struct_size = sizeof info;
  require_ok(polar_cuda_get_device_info(0, &info));
  CHECK(info.compute_major >= 8);
  CHECK(info.multiprocessors >= 1);
  CHECK(info.total_bytes >= info.free_bytes);
  CHECK(std::strlen(info.name) > 0);
  require_failure(polar_cuda_get_device_info(count, &info), POLAR_ERROR_BAD_ARGUMENT,
                  "device: " + std::to_string(count));
  require_failure(polar_cuda_get_device_info(-1, &info), POLAR_ERROR_BAD_ARGUMENT, "device: -1");
}

TEST_CASE("an index without rows", "[cuda]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, {});
  rows.compare(std::vector<float>(128, 1.0F), 3, search_options(2.25F));
  CHECK(polar_cuda_index_ntotal(rows.device()) == 0);
}

TEST_CASE("a search's arguments", "[cuda]") {
  const CodedRows rows("Polar2", 64, POLAR_METRIC_L2, clustered_rows(100, 64, 1));
  CHECK(polar_cuda_index_ntotal(rows.device()) == 100);
  const std::vector<float> query(64, 1.0F);
  float scores[3];
  int64_t ids[3];
  const auto search = [&](int64_t nq, const float* queries, int64_t k) {
    return polar_cuda_index_search(rows.device(), nq, queries, k, nullptr, nullptr, scores, ids);
  };
  require_ok(search(0, nullptr, 3));
  require_failure(search(-1, query.data(), 3), POLAR_ERROR_BAD_ARGUMENT, "nq: -1");
  require_failure(search(1, query.data(), 0), POLAR_ERROR_BAD_ARGUMENT, "k: 0");
  require_failure(search(1, nullptr, 3), POLAR_ERROR_BAD_ARGUMENT, "queries");
  std::vector<float> not_finite = query;
  not_finite[5] = std::nanf("");
  require_failure(search(1, not_finite.data(), 3), POLAR_ERROR_BAD_ARGUMENT, "queries");
}

TEST_CASE("inverted files of published codes are refused", "[cuda]") {
  const std::vector<float> x = clustered_rows(400, 64, 2);
  polar_index* made = nullptr;
  require_ok(polar_index_create("IVF4,PolarScalar4", 64, POLAR_METRIC_L2, &made));
  const Handle<polar_index> index(made);
  require_ok(polar_index_train(index.get(), 400, x.data(), nullptr));
  polar_cuda_index* copy = nullptr;
  require_failure(polar_cuda_index_from_index(index.get(), nullptr, &copy), POLAR_ERROR_UNSUPPORTED,
                  "PolarScalar4");
}

TEST_CASE("an index, its ids and its metric", "[cuda]") {
  const polar_metric metric =
      GENERATE(POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE);
  polar_index* made = nullptr;
  const polar_status status = polar_index_create("Polar4", 96, metric, &made);
  if (status == POLAR_ERROR_UNSUPPORTED) return;  // built without FAISS
  require_ok(status);
  const Handle<polar_index> index(made);
  const int64_t n = 70000;  // of two chunks
  const std::vector<float> x = clustered_rows(n, 96, 3);
  std::vector<int64_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(1000000 - 3 * i);
  const bool own_ids = GENERATE(false, true);
  require_ok(own_ids ? polar_index_add_with_ids(made, n, x.data(), ids.data(), nullptr)
                     : polar_index_add(made, n, x.data(), nullptr));
  polar_cuda_index* copied = nullptr;
  require_ok(polar_cuda_index_from_index(made, nullptr, &copied));
  const Handle<polar_cuda_index> device(copied);
  CHECK(polar_cuda_index_ntotal(copied) == n);
  const std::vector<float> queries(x.begin(), x.begin() + int64_t{12} * 96);
  polar_search_options options = search_options(2.25F);
  const polar_filter filter = range_filter(900000, 990000);
  if (own_ids) options.filter = &filter;
  SearchResult expected{std::vector<float>(120), std::vector<int64_t>(120)};
  SearchResult found = expected;
  require_ok(polar_index_search(made, 12, queries.data(), 10, &options, expected.scores.data(),
                                expected.ids.data()));
  require_ok(polar_cuda_index_search(copied, 12, queries.data(), 10, &options, nullptr,
                                     found.scores.data(), found.ids.data()));
  CHECK(found == expected);
}

}  // namespace
}  // namespace polarquant::test
