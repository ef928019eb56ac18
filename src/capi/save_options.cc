// SPDX-License-Identifier: MIT
#include "src/capi/save_options.h"

#include "src/capi/options.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

// Size in the first version that had the struct; it never changes (test_capi_abi.cc).
constexpr size_t kFirstSaveOptionsBytes = sizeof(polar_save_options);

polar_save_options default_save_options() {
  polar_save_options options = {};
  options.struct_size = sizeof options;
  return options;
}

}  // namespace

polar_save_options read_save_options(const polar_save_options* given) {
  polar_save_options options = default_save_options();
  if (given == nullptr) return options;
  read_struct("options", given, kFirstSaveOptionsBytes, &options, sizeof options);
  require(options.verify == 0 || options.verify == 1, StatusCode::bad_argument,
          "options.verify: {} is not allowed; 0 or 1", options.verify);
  return options;
}

}  // namespace polarquant::capi

extern "C" void polar_save_options_init(polar_save_options* options) {
  if (options != nullptr) *options = polarquant::capi::default_save_options();
}
