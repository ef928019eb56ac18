// SPDX-License-Identifier: MIT
#include "src/capi/file_options.h"

#include "src/capi/argument_checks.h"
#include "src/capi/options.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

void require_flag(const char* name, int32_t value) {
  require(value == 0 || value == 1, StatusCode::bad_argument,
          "options.{}: {} is not allowed; 0 or 1", name, value);
}

constexpr int64_t kLeastBuilderMemory = int64_t{1} << 20;

polar_builder_options default_builder_options() {
  auto options = sized<polar_builder_options>();
  options.memory_bytes = int64_t{1} << 30;
  return options;
}

}  // namespace

polar_load_options read_load_options(const polar_load_options* given) {
  const auto options = read_over(sized<polar_load_options>(), "options", given);
  require_flag("memory_map", options.memory_map);
  require_flag("trust_faiss", options.trust_faiss);
  require(options.reserved == 0, StatusCode::bad_argument, "options.reserved: {} is not allowed; 0",
          options.reserved);
  return options;
}

polar_save_options read_save_options(const polar_save_options* given) {
  const auto options = read_over(sized<polar_save_options>(), "options", given);
  require_flag("verify", options.verify);
  return options;
}

polar_builder_options read_builder_options(const polar_builder_options* given) {
  const auto options = read_over(default_builder_options(), "options", given);
  require_flag("replace", options.replace);
  require_count("options.memory_bytes", options.memory_bytes, kLeastBuilderMemory);
  return options;
}

}  // namespace polarquant::capi

extern "C" void polar_load_options_init_sized(polar_load_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::sized<polar_load_options>(), options, struct_size);
}

extern "C" void polar_save_options_init_sized(polar_save_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::sized<polar_save_options>(), options, struct_size);
}

extern "C" void polar_builder_options_init_sized(polar_builder_options* options,
                                                 size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::default_builder_options(), options, struct_size);
}
