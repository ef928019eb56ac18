// SPDX-License-Identifier: MIT
#include "src/capi/cuda_options.h"

#include <cstddef>

#include "src/capi/options.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

// Size in the first version that had the struct; it never changes (test_capi_abi.cc).
constexpr size_t kFirstCudaOptionsBytes = sizeof(polar_cuda_options);

}  // namespace

polar_cuda_options default_cuda_options() {
  polar_cuda_options options = {};
  options.struct_size = sizeof options;
  return options;
}

polar_cuda_options read_cuda_options(const polar_cuda_options* given) {
  polar_cuda_options options = default_cuda_options();
  if (given != nullptr)
    read_struct("options", given, kFirstCudaOptionsBytes, &options, sizeof options);
  require(options.device >= 0, StatusCode::bad_argument,
          "options.device: {} is not allowed; 0 or more", options.device);
  return options;
}

}  // namespace polarquant::capi
