// SPDX-License-Identifier: MIT
// Which devices an index is copied to, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace polarquant::device {

/// The devices of an index: one or more; the same one may come several times.
struct CudaPlaces {
  std::vector<int32_t> devices;
  bool are_listed = false;  // in options.devices, else in options.device
  bool replicated = false;  // every device has all rows, else a part of them
};

/// The argument that names device i.
std::string name_of(const CudaPlaces& places, size_t i);

/// Throws unsupported where there is no CUDA device, and bad_argument for a number of none.
void require_cuda_devices(const CudaPlaces& places);

}  // namespace polarquant::device
