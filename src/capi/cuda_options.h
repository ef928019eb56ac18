// SPDX-License-Identifier: MIT
// polar_cuda_options on their way to devices.
#pragma once

#include <cstdint>

#include "polarquant/polarquant.h"
#include "src/device/cuda_places.h"

namespace polarquant::capi {

/// The caller's options checked and merged with the defaults; NULL gives the defaults.
polar_cuda_options read_cuda_options(const polar_cuda_options* given);
/// The devices that checked options name. Throws bad_argument for one below 0.
device::CudaPlaces cuda_places(const polar_cuda_options& options);
/// The same for what has one device.
int32_t cuda_device(const polar_cuda_options& options);

}  // namespace polarquant::capi
