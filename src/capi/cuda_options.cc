// SPDX-License-Identifier: MIT
#include "src/capi/cuda_options.h"

#include <cstddef>
#include <string>

#include "src/capi/options.h"
#include "src/core/format.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

// Size in the first version that had the struct; it never changes (test_capi_abi.cc).
constexpr size_t kFirstCudaOptionsBytes = offsetof(polar_cuda_options, devices);

/// More than one host has; a wrong number is found before it is read that far.
constexpr int32_t kMostDevices = 64;

polar_cuda_options read_options(const polar_cuda_options* given) {
  polar_cuda_options options = default_cuda_options();
  if (given != nullptr)
    read_struct("options", given, kFirstCudaOptionsBytes, &options, sizeof options);
  require(options.num_devices >= 0 && options.num_devices <= kMostDevices, StatusCode::bad_argument,
          "options.num_devices: {} is not allowed; 0 to {}", options.num_devices, kMostDevices);
  require(options.layout == POLAR_CUDA_SHARDED || options.layout == POLAR_CUDA_REPLICATED,
          StatusCode::bad_argument,
          "options.layout: {} is not allowed; {} (sharded) or {} (replicated)", options.layout,
          POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  return options;
}

}  // namespace

polar_cuda_options default_cuda_options() {
  polar_cuda_options options = {};
  options.struct_size = sizeof options;
  return options;
}

device::CudaPlaces read_cuda_places(const polar_cuda_options* given) {
  const polar_cuda_options options = read_options(given);
  device::CudaPlaces places;
  places.are_listed = options.num_devices > 0;
  places.replicated = options.layout == POLAR_CUDA_REPLICATED;
  if (places.are_listed) {
    require(options.devices != nullptr, StatusCode::bad_argument,
            "options.devices: NULL is not allowed with options.num_devices {}",
            options.num_devices);
    places.devices.assign(options.devices, options.devices + options.num_devices);
  } else {
    places.devices.push_back(options.device);
  }
  for (size_t i = 0; i < places.devices.size(); ++i) {
    require(places.devices[i] >= 0, StatusCode::bad_argument, "{}: {} is not allowed; 0 or more",
            device::name_of(places, i), places.devices[i]);
  }
  return places;
}

int32_t read_cuda_device(const polar_cuda_options* given) {
  const polar_cuda_options options = read_options(given);
  require(options.num_devices == 0, StatusCode::bad_argument,
          "options.num_devices: {} is not allowed; 0, and the device in options.device: indexes "
          "alone have several",
          options.num_devices);
  return read_cuda_places(given).devices.front();
}

}  // namespace polarquant::capi
