// SPDX-License-Identifier: MIT
// polar_cuda_options on their way to devices.
#pragma once

#include <cstdint>

#include "polarquant/polarquant.h"
#include "src/device/cuda_places.h"

namespace polarquant::capi {

polar_cuda_options default_cuda_options();

/// NULL: the defaults. Throws bad_argument for what no machine has: devices below 0, too many of
/// them, an unknown layout.
device::CudaPlaces read_cuda_places(const polar_cuda_options* given);
/// The same for what has one device.
int32_t read_cuda_device(const polar_cuda_options* given);

}  // namespace polarquant::capi
