// SPDX-License-Identifier: MIT
#include "src/capi/load_options.h"

#include "src/capi/options.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

// Size in the first version that had the struct; it never changes (test_capi_abi.cc).
constexpr size_t kFirstLoadOptionsBytes = sizeof(polar_load_options);

polar_load_options default_load_options() {
  polar_load_options options = {};
  options.struct_size = sizeof options;
  return options;
}

void require_flag(const char* name, int32_t value) {
  require(value == 0 || value == 1, StatusCode::bad_argument,
          "options.{}: {} is not allowed; 0 or 1", name, value);
}

}  // namespace

polar_load_options read_load_options(const polar_load_options* given) {
  polar_load_options options = default_load_options();
  if (given == nullptr) return options;
  read_struct("options", given, kFirstLoadOptionsBytes, &options, sizeof options);
  require_flag("memory_map", options.memory_map);
  require_flag("trust_faiss", options.trust_faiss);
  require(options.reserved == 0, StatusCode::bad_argument, "options.reserved: {} is not allowed; 0",
          options.reserved);
  return options;
}

}  // namespace polarquant::capi

extern "C" void polar_load_options_init(polar_load_options* options) {
  if (options != nullptr) *options = polarquant::capi::default_load_options();
}
