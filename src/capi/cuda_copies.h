// SPDX-License-Identifier: MIT
// Copies of indexes on devices, made, and made anew or added to as their indexes change.
#pragma once

#include <cstdint>
#include <memory>

#include "src/capi/cuda_handle.h"
#include "src/capi/index_handle.h"

namespace polarquant::capi {

/// Throws unsupported for what is not searched on devices. num_threads: to code rows that the index
/// keeps as floats.
std::unique_ptr<polar_cuda_index> copy_to_devices(const polar_index& index,
                                                  const device::CudaPlaces& places,
                                                  int32_t num_threads);

/// Makes *copy what copy_to_devices would make of the index, with its places: by the rows that it
/// lacks, where rows have only been added since. Unchanged after an error.
void refresh_copy(const polar_index& index, polar_cuda_index* copy);

}  // namespace polarquant::capi
