// SPDX-License-Identifier: MIT
// What compiled programs of older versions rely on: numbers, sizes and places that never change.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "polarquant/polarquant.h"
#include "tests/support/catch.h"

TEST_CASE("status numbers are pinned", "[capi]") {
  struct Row {
    polar_status status;
    int number;
    const char* name;
  };
  const Row rows[] = {
      {POLAR_OK, 0, "ok"},
      {POLAR_ERROR_BAD_ARGUMENT, 10, "bad argument"},
      {POLAR_ERROR_UNSUPPORTED, 20, "unsupported"},
      {POLAR_ERROR_NOT_TRAINED, 30, "not trained"},
      {POLAR_ERROR_NOT_FOUND, 40, "not found"},
      {POLAR_ERROR_STATE_MISMATCH, 50, "state mismatch"},
      {POLAR_ERROR_OUT_OF_MEMORY, 60, "out of memory"},
      {POLAR_ERROR_CORRUPT_DATA, 70, "corrupt data"},
      {POLAR_ERROR_NEWER_FORMAT, 80, "newer format"},
      {POLAR_ERROR_IO, 90, "input/output error"},
      {POLAR_ERROR_CUDA, 100, "CUDA error"},
      {POLAR_ERROR_CANCELLED, 110, "cancelled"},
      {POLAR_ERROR_INTERNAL, 120, "internal error"},
  };
  for (const Row& row : rows) {
    CHECK(row.status == row.number);
    CHECK(std::string(polar_status_name(row.status)) == row.name);
  }
  for (const polar_status unknown : {-1, 1, 15, 121, INT32_MAX, INT32_MIN}) {
    CHECK(std::string(polar_status_name(unknown)) == "unknown status");
  }
}

TEST_CASE("the library's own status numbers are the ABI's", "[capi]") {
  using polarquant::StatusCode;
  CHECK(static_cast<int>(StatusCode::bad_argument) == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(static_cast<int>(StatusCode::unsupported) == POLAR_ERROR_UNSUPPORTED);
  CHECK(static_cast<int>(StatusCode::not_trained) == POLAR_ERROR_NOT_TRAINED);
  CHECK(static_cast<int>(StatusCode::not_found) == POLAR_ERROR_NOT_FOUND);
  CHECK(static_cast<int>(StatusCode::state_mismatch) == POLAR_ERROR_STATE_MISMATCH);
  CHECK(static_cast<int>(StatusCode::out_of_memory) == POLAR_ERROR_OUT_OF_MEMORY);
  CHECK(static_cast<int>(StatusCode::corrupt_data) == POLAR_ERROR_CORRUPT_DATA);
  CHECK(static_cast<int>(StatusCode::newer_format) == POLAR_ERROR_NEWER_FORMAT);
  CHECK(static_cast<int>(StatusCode::io) == POLAR_ERROR_IO);
  CHECK(static_cast<int>(StatusCode::cuda) == POLAR_ERROR_CUDA);
  CHECK(static_cast<int>(StatusCode::cancelled) == POLAR_ERROR_CANCELLED);
  CHECK(static_cast<int>(StatusCode::internal) == POLAR_ERROR_INTERNAL);
}

TEST_CASE("metric, reconstruction and type widths are pinned", "[capi]") {
  CHECK(POLAR_METRIC_INNER_PRODUCT == 0);
  CHECK(POLAR_METRIC_L2 == 1);
  CHECK(POLAR_METRIC_COSINE == 2);
  CHECK(POLAR_RECONSTRUCTION_LEAST_ERROR == 0);
  CHECK(POLAR_RECONSTRUCTION_UNBIASED == 1);
  CHECK(std::is_same_v<polar_status, int32_t>);
  CHECK(std::is_same_v<polar_metric, int32_t>);
  CHECK(std::is_same_v<polar_reconstruction, int32_t>);
}

TEST_CASE("options: size, places and defaults are pinned", "[capi]") {
  CHECK(offsetof(polar_codec_options, struct_size) == 0);
  CHECK(offsetof(polar_codec_options, learn_centre) == 4);
  CHECK(offsetof(polar_codec_options, seed) == 8);
  CHECK(offsetof(polar_codec_options, centre) == 16);
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_codec_options) == 32);
    CHECK(offsetof(polar_codec_options, norm_unit) == 24);
  }
  polar_codec_options options;
  polar_codec_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.seed == 1);
  CHECK(options.centre == nullptr);
  CHECK(options.norm_unit == 0);
  CHECK(options.learn_centre == 1);
  polar_codec_options_init(nullptr);
}

// Programs of older versions have shorter structs on their stack, those of newer ones longer ones.
template <typename Struct>
void check_sizes_are_kept(void (*init_sized)(Struct*, size_t)) {
  Struct whole;
  init_sized(&whole, sizeof whole);
  CHECK(whole.struct_size == sizeof whole);
  const auto* expected = reinterpret_cast<const uint8_t*>(&whole);
  constexpr uint8_t kUntouched = 0xa5;
  constexpr size_t kLongest = 4096;
  for (const size_t given : {size_t{0}, size_t{3}, size_t{4}, size_t{5}, sizeof whole - 8,
                             sizeof whole, sizeof whole + 24, kLongest, kLongest + 1, SIZE_MAX}) {
    INFO("struct_size: " << given);
    alignas(Struct) std::array<uint8_t, kLongest + 64> bytes;
    bytes.fill(kUntouched);
    init_sized(reinterpret_cast<Struct*>(bytes.data()), given);
    const size_t written = given > kLongest ? 4 : given < 4 ? 0 : given;
    if (written != 0) {
      uint32_t size = 1;
      std::memcpy(&size, bytes.data(), sizeof size);
      CHECK(size == (given > kLongest ? 0 : given));
    }
    size_t wrong = 0;
    for (size_t i = written == 0 ? 0 : 4; i < bytes.size(); ++i) {
      const uint8_t filled = i < sizeof whole ? expected[i] : 0;
      wrong += bytes[i] != (i < written ? filled : kUntouched) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
  init_sized(nullptr, sizeof whole);
}

TEST_CASE("defaults fill the caller's struct and no byte beyond it", "[capi]") {
  check_sizes_are_kept(polar_work_options_init_sized);
  check_sizes_are_kept(polar_filter_init_sized);
  check_sizes_are_kept(polar_search_options_init_sized);
  check_sizes_are_kept(polar_codec_options_init_sized);
  check_sizes_are_kept(polar_load_options_init_sized);
  check_sizes_are_kept(polar_save_options_init_sized);
  check_sizes_are_kept(polar_builder_options_init_sized);
  check_sizes_are_kept(polar_advice_options_init_sized);
  check_sizes_are_kept(polar_cuda_options_init_sized);
}

TEST_CASE("work options: size, places and defaults are pinned", "[capi]") {
  CHECK(offsetof(polar_work_options, struct_size) == 0);
  CHECK(offsetof(polar_work_options, num_threads) == 4);
  CHECK(offsetof(polar_work_options, progress) == 8);
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_work_options) == 24);
    CHECK(offsetof(polar_work_options, progress_user) == 16);
  }
  polar_work_options options;
  polar_work_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK((options.num_threads == 0 && options.progress == nullptr));
  polar_work_options_init(nullptr);
}

TEST_CASE("filters and blocks: sizes, places and defaults are pinned", "[capi]") {
  CHECK(POLAR_FILTER_NONE == 0);
  CHECK(POLAR_FILTER_BITSET == 1);
  CHECK(POLAR_FILTER_IDS == 2);
  CHECK(POLAR_FILTER_RANGE == 3);
  CHECK(POLAR_FILTER_CALLBACK == 4);
  CHECK(POLAR_FILTER_PREPARED == 5);
  CHECK(std::is_same_v<polar_filter_kind, int32_t>);
  CHECK(offsetof(polar_filter, struct_size) == 0);
  CHECK(offsetof(polar_filter, kind) == 4);
  CHECK(offsetof(polar_filter, bitset) == 8);
  CHECK(sizeof(polar_id_range) == 16);
  CHECK(offsetof(polar_id_range, first) == 0);
  CHECK(offsetof(polar_id_range, end) == 8);
  CHECK(offsetof(polar_blocks, rows) == 0);
  CHECK(offsetof(polar_blocks, data) == 8);
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_filter) == 80);
    CHECK(offsetof(polar_filter, ids) == 24);
    CHECK(offsetof(polar_filter, range) == 40);
    CHECK(offsetof(polar_filter, callback) == 56);
    CHECK(offsetof(polar_filter, prepared) == 72);  // the first version ended here
    CHECK(offsetof(polar_bitset, num_bits) == 8);
    CHECK(offsetof(polar_id_list, count) == 8);
    CHECK(offsetof(polar_id_callback, user) == 8);
    CHECK(sizeof(polar_blocks) == 24);
    CHECK(offsetof(polar_blocks, bytes) == 16);
  }
  polar_filter filter;
  polar_filter_init(&filter);
  CHECK(filter.struct_size == sizeof filter);
  CHECK(filter.kind == POLAR_FILTER_NONE);
  polar_filter_init(nullptr);
}

TEST_CASE("search options: size, places and defaults are pinned", "[capi]") {
  CHECK(offsetof(polar_search_options, struct_size) == 0);
  CHECK(offsetof(polar_search_options, num_threads) == 4);
  CHECK(offsetof(polar_search_options, exactness) == 8);
  CHECK(offsetof(polar_search_options, reserved) == 12);
  CHECK(offsetof(polar_search_options, filter) == 16);
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_search_options) == 64);
    CHECK(offsetof(polar_search_options, progress) == 24);
    CHECK(offsetof(polar_search_options, progress_user) == 32);
    CHECK(offsetof(polar_search_options, nprobe) == 40);
    CHECK(offsetof(polar_search_options, ef_search) == 48);
    CHECK(offsetof(polar_search_options, k_factor) == 56);
  }
  polar_search_options options;
  polar_search_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.exactness == 2.25F);
  CHECK((options.filter == nullptr && options.reserved == 0));
  CHECK((options.nprobe == 0 && options.ef_search == 0 && options.k_factor == 0));
  polar_search_options_init(nullptr);
}

TEST_CASE("info: size and places are pinned", "[capi]") {
  CHECK(offsetof(polar_codec_info, struct_size) == 0);
  CHECK(offsetof(polar_codec_info, dim) == 4);
  CHECK(offsetof(polar_codec_info, metric) == 8);
  CHECK(offsetof(polar_codec_info, is_trained) == 12);
  CHECK(offsetof(polar_codec_info, state_origin) == 16);
  CHECK(offsetof(polar_codec_info, group_rows) == 20);
  CHECK(offsetof(polar_codec_info, seed) == 24);
  CHECK(offsetof(polar_codec_info, code_bytes) == 32);
  if (sizeof(size_t) == 8) {
    CHECK(sizeof(polar_codec_info) == 96);
    CHECK(offsetof(polar_codec_info, factor_bytes) == 40);
    CHECK(offsetof(polar_codec_info, tail_row_bytes) == 48);
    CHECK(offsetof(polar_codec_info, bits_per_dim) == 56);
    CHECK(offsetof(polar_codec_info, mse) == 64);
    CHECK(offsetof(polar_codec_info, centre_norm) == 72);
    CHECK(offsetof(polar_codec_info, norm_unit) == 80);
    CHECK(offsetof(polar_codec_info, state_id) == 88);
  }
}

TEST_CASE("index info: size and places are pinned", "[capi]") {
  CHECK(sizeof(polar_index_info) == 24);
  CHECK(offsetof(polar_index_info, struct_size) == 0);
  CHECK(offsetof(polar_index_info, dim) == 4);
  CHECK(offsetof(polar_index_info, metric) == 8);
  CHECK(offsetof(polar_index_info, is_trained) == 12);
  CHECK(offsetof(polar_index_info, ntotal) == 16);
}

TEST_CASE("plan: sizes and places are pinned", "[capi]") {
  CHECK(sizeof(polar_segment) == 24);
  CHECK(offsetof(polar_segment, dim) == 4);
  CHECK(offsetof(polar_segment, bits) == 8);
  CHECK(offsetof(polar_segment, scale) == 16);
  CHECK(sizeof(polar_codec_plan) == 32);
  CHECK(offsetof(polar_codec_plan, has_basis) == 4);
  CHECK(offsetof(polar_codec_plan, segments) == 8);
  CHECK(offsetof(polar_codec_plan, error) == 16);
  CHECK(offsetof(polar_codec_plan, untrained_error) == 24);
}

TEST_CASE("polar_load_options keeps its layout", "[capi]") {
  CHECK(sizeof(polar_load_options) == 16);
  CHECK(offsetof(polar_load_options, memory_map) == 4);
  CHECK(offsetof(polar_load_options, trust_faiss) == 8);
  CHECK(offsetof(polar_load_options, reserved) == 12);
  polar_load_options options;
  polar_load_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.memory_map == 0);
  CHECK(options.trust_faiss == 0);
  polar_load_options_init(nullptr);
}

TEST_CASE("polar_save_options keeps its layout", "[capi]") {
  CHECK(sizeof(polar_save_options) == 8);
  CHECK(offsetof(polar_save_options, verify) == 4);
  polar_save_options options;
  polar_save_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.verify == 0);
  polar_save_options_init(nullptr);
}

TEST_CASE("polar_builder_options keeps its layout", "[capi]") {
  CHECK(sizeof(polar_builder_options) == 16);
  CHECK(offsetof(polar_builder_options, replace) == 4);
  CHECK(offsetof(polar_builder_options, memory_bytes) == 8);
  polar_builder_options options;
  polar_builder_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.replace == 0);
  CHECK(options.memory_bytes == int64_t{1} << 30);
  polar_builder_options_init(nullptr);
}

TEST_CASE("advice: sizes, places and defaults are pinned", "[capi]") {
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_advice_options) == 96);
    CHECK(offsetof(polar_advice_options, num_threads) == 4);
    CHECK(offsetof(polar_advice_options, seed) == 8);
    CHECK(offsetof(polar_advice_options, k) == 16);
    CHECK(offsetof(polar_advice_options, wanted_recall) == 24);
    CHECK(offsetof(polar_advice_options, allowed_bytes) == 32);
    CHECK(offsetof(polar_advice_options, max_rows) == 40);
    CHECK(offsetof(polar_advice_options, max_queries) == 48);
    CHECK(offsetof(polar_advice_options, total_rows) == 56);
    CHECK(offsetof(polar_advice_options, specs) == 64);
    CHECK(offsetof(polar_advice_options, num_specs) == 72);
    CHECK(offsetof(polar_advice_options, progress) == 80);
    CHECK(offsetof(polar_advice_options, progress_user) == 88);
    CHECK(sizeof(polar_advice_info) == 56);
    CHECK(offsetof(polar_advice_info, held_out_queries) == 4);
    CHECK(offsetof(polar_advice_info, rows) == 8);
    CHECK(offsetof(polar_advice_info, recommended) == 16);
    CHECK(offsetof(polar_advice_info, reason) == 24);
    CHECK(offsetof(polar_advice_info, queries) == 32);
    CHECK(offsetof(polar_advice_info, base_rows) == 40);
    CHECK(offsetof(polar_advice_info, train_rows) == 48);
    CHECK(sizeof(polar_advice_row) == 104);
    CHECK(offsetof(polar_advice_row, needs_training) == 4);
    CHECK(offsetof(polar_advice_row, spec) == 8);
    CHECK(offsetof(polar_advice_row, problem) == 16);
    CHECK(offsetof(polar_advice_row, bytes_per_vector) == 24);
    CHECK(offsetof(polar_advice_row, recall) == 32);
    CHECK(offsetof(polar_advice_row, recall_margin) == 40);
    CHECK(offsetof(polar_advice_row, quarter_recall) == 48);
    CHECK(offsetof(polar_advice_row, expected_recall) == 56);
    CHECK(offsetof(polar_advice_row, error) == 64);
    CHECK(offsetof(polar_advice_row, gain) == 72);
    CHECK(offsetof(polar_advice_row, gain_margin) == 80);
    CHECK(offsetof(polar_advice_row, codec_bytes) == 88);
    CHECK(offsetof(polar_advice_row, pays) == 96);
    CHECK(offsetof(polar_advice_row, is_recommended) == 100);
  }
  polar_advice_options options;
  polar_advice_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK(options.num_threads == 0);
  CHECK(options.seed == 1);
  CHECK(options.k == 10);
  CHECK(options.wanted_recall == 0);
  CHECK(options.allowed_bytes == 0);
  CHECK(options.max_rows == 20000);
  CHECK(options.max_queries == 1000);
  CHECK(options.total_rows == 0);
  CHECK(options.specs == nullptr);
  CHECK(options.num_specs == 0);
  CHECK(options.progress == nullptr);
  polar_advice_options_init(nullptr);
}

TEST_CASE("CUDA: sizes, places and defaults are pinned", "[capi]") {
  CHECK(sizeof(polar_cuda_device_info) == 288);
  CHECK(offsetof(polar_cuda_device_info, compute_major) == 4);
  CHECK(offsetof(polar_cuda_device_info, compute_minor) == 8);
  CHECK(offsetof(polar_cuda_device_info, multiprocessors) == 12);
  CHECK(offsetof(polar_cuda_device_info, total_bytes) == 16);
  CHECK(offsetof(polar_cuda_device_info, free_bytes) == 24);
  CHECK(offsetof(polar_cuda_device_info, name) == 32);
  CHECK(offsetof(polar_cuda_options, num_threads) == 4);
  CHECK(offsetof(polar_cuda_options, device) == 8);
  CHECK(offsetof(polar_cuda_options, num_devices) == 12);
  CHECK(offsetof(polar_cuda_options, devices) == 16);
  if (sizeof(void*) == 8) {
    CHECK(sizeof(polar_cuda_options) == 32);
    CHECK(offsetof(polar_cuda_options, layout) == 24);
    CHECK(offsetof(polar_cuda_options, reserved) == 28);
  }
  CHECK(POLAR_CUDA_SHARDED == 0);
  CHECK(POLAR_CUDA_REPLICATED == 1);
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  CHECK(options.struct_size == sizeof options);
  CHECK((options.device == 0 && options.num_devices == 0 && options.devices == nullptr));
  CHECK(options.layout == POLAR_CUDA_SHARDED);
  polar_cuda_options_init(nullptr);
}

TEST_CASE("the version is the project's", "[capi]") {
  CHECK(std::string(polar_version_string()) == POLARQUANT_PROJECT_VERSION);
  CHECK(polar_version() ==
        POLAR_VERSION_MAJOR * 10000 + POLAR_VERSION_MINOR * 100 + POLAR_VERSION_PATCH);
}
