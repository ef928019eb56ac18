// SPDX-License-Identifier: MIT
#include "src/capi/cuda_options.h"

#include <string>

#include "src/capi/argument_checks.h"
#include "src/capi/options.h"
#include "src/core/format.h"
#include "src/core/status.h"

namespace polarquant::capi {
namespace {

/// More than one host has; a wrong number is found before it is read that far.
constexpr int32_t kMostDevices = 64;

}  // namespace

polar_cuda_options read_cuda_options(const polar_cuda_options* given) {
  const auto options = read_over(sized<polar_cuda_options>(), "options", given);
  require_threads(options.num_threads);
  require(options.reserved == 0, StatusCode::bad_argument, "options.reserved: {} is not allowed; 0",
          options.reserved);
  require(options.num_devices >= 0 && options.num_devices <= kMostDevices, StatusCode::bad_argument,
          "options.num_devices: {} is not allowed; 0 to {}", options.num_devices, kMostDevices);
  require(options.layout == POLAR_CUDA_SHARDED || options.layout == POLAR_CUDA_REPLICATED,
          StatusCode::bad_argument,
          "options.layout: {} is not allowed; {} (sharded) or {} (replicated)", options.layout,
          POLAR_CUDA_SHARDED, POLAR_CUDA_REPLICATED);
  return options;
}

device::CudaPlaces cuda_places(const polar_cuda_options& options) {
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

int32_t cuda_device(const polar_cuda_options& options) {
  require(options.num_devices == 0, StatusCode::bad_argument,
          "options.num_devices: {} is not allowed; 0, and the device in options.device: indexes "
          "alone have several",
          options.num_devices);
  return cuda_places(options).devices.front();
}

}  // namespace polarquant::capi

extern "C" void polar_cuda_options_init_sized(polar_cuda_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::sized<polar_cuda_options>(), options, struct_size);
}
