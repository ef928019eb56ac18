// SPDX-License-Identifier: MIT
// What the C ABI's tests share: handles that destroy themselves, made-up rows, and a check of a
// failed call's status and text.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/core/random.h"
#include "tests/support/catch.h"
#include "tests/support/filters.h"

namespace polarquant::test {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct DestroyHandle {
  void operator()(polar_codec* codec) const { polar_codec_destroy(codec); }
  void operator()(polar_query* query) const { polar_query_destroy(query); }
  void operator()(polar_index* index) const { polar_index_destroy(index); }
  void operator()(polar_prepared_filter* filter) const { polar_prepared_filter_destroy(filter); }
};
using CodecHandle = std::unique_ptr<polar_codec, DestroyHandle>;
using QueryHandle = std::unique_ptr<polar_query, DestroyHandle>;
using IndexHandle = std::unique_ptr<polar_index, DestroyHandle>;
using PreparedFilterHandle = std::unique_ptr<polar_prepared_filter, DestroyHandle>;

inline std::string last_error() {
  std::string text(polar_last_error(nullptr, 0), '\0');
  polar_last_error(text.data(), text.size() + 1);
  return text;
}

/// A call that must succeed.
inline void require_ok(polar_status status) {
  INFO("text: " << (status == POLAR_OK ? "" : last_error()));
  REQUIRE(status == POLAR_OK);
}

/// A call that must have failed with this status and a text that has every part.
inline void check_failed(polar_status status, polar_status expected,
                         const std::vector<std::string>& parts) {
  INFO("status: " << polar_status_name(status) << ", text: " << last_error());
  CHECK(status == expected);
  for (const std::string& part : parts) {
    INFO("looked for: " << part);
    CHECK(last_error().find(part) != std::string::npos);
  }
}

inline PreparedFilterHandle prepared_filter(const polar_filter& filter) {
  polar_prepared_filter* prepared = nullptr;
  require_ok(polar_prepared_filter_create(&filter, &prepared));
  return PreparedFilterHandle(prepared);
}
inline polar_filter filter_of(const PreparedFilterHandle& prepared) {
  polar_filter filter = filter_of(POLAR_FILTER_PREPARED);
  filter.prepared = prepared.get();
  return filter;
}

inline CodecHandle make_codec(const char* spec, int32_t dim, polar_metric metric,
                              const polar_codec_options* options = nullptr) {
  polar_codec* codec = nullptr;
  require_ok(polar_codec_create(spec, dim, metric, options, &codec));
  return CodecHandle(codec);
}

inline IndexHandle make_index(const char* description, int32_t dim, polar_metric metric) {
  polar_index* index = nullptr;
  require_ok(polar_index_create(description, dim, metric, &index));
  return IndexHandle(index);
}

/// Options of searches, and of work, on so many threads.
inline polar_search_options searching_on(int32_t num_threads) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = num_threads;
  return options;
}
inline polar_work_options working_on(int32_t num_threads) {
  polar_work_options options;
  polar_work_options_init(&options);
  options.num_threads = num_threads;
  return options;
}

inline polar_codec_info info_of(const CodecHandle& codec) {
  polar_codec_info info = {};
  info.struct_size = sizeof info;
  require_ok(polar_codec_get_info(codec.get(), &info));
  return info;
}

inline std::vector<uint8_t> encode(const CodecHandle& codec, int64_t n, const std::vector<float>& x,
                                   const polar_work_options* options = nullptr) {
  size_t bytes = 0;
  require_ok(polar_codec_encoded_bytes(codec.get(), n, &bytes));
  std::vector<uint8_t> codes(bytes);
  require_ok(polar_codec_encode(codec.get(), n, x.data(), options, codes.data(), codes.size()));
  return codes;
}

inline std::vector<uint8_t> state_of(const CodecHandle& codec) {
  size_t needed = 0;
  require_ok(polar_codec_save_state(codec.get(), nullptr, 0, &needed));
  std::vector<uint8_t> state(needed);
  require_ok(polar_codec_save_state(codec.get(), state.data(), state.size(), &needed));
  return state;
}

/// (rows, dim) normal numbers around `mean`.
inline std::vector<float> normal_rows(int64_t rows, int64_t dim, uint64_t seed, double mean = 0) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(rows * dim));
  for (float& value : x) value = static_cast<float>(random.normal() + mean);
  return x;
}

inline double dot(const float* a, const float* b, int64_t dim) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

inline double distance(const float* a, const float* b, int64_t dim) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return sum;
}

}  // namespace polarquant::test
