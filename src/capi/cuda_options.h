// SPDX-License-Identifier: MIT
// polar_cuda_options on their way to devices.
#pragma once

#include <cstdint>
#include <vector>

#include "polarquant/polarquant.h"

namespace polarquant::capi {

polar_cuda_options default_cuda_options();

/// The devices of an index: one or more, some perhaps more than once.
struct CudaPlaces {
  std::vector<int32_t> devices;
  bool are_listed = false;  // in options.devices, else in options.device
  bool replicated = false;  // every device has all rows, else a part of them
};

/// NULL: the defaults. Throws bad_argument for what no machine has: devices below 0, too many of
/// them, an unknown layout.
CudaPlaces read_cuda_places(const polar_cuda_options* given);
/// The same for what has one device.
int32_t read_cuda_device(const polar_cuda_options* given);

/// Throws unsupported where there is no CUDA device, and bad_argument for a number of none.
void require_cuda_devices(const CudaPlaces& places);

}  // namespace polarquant::capi
