// SPDX-License-Identifier: MIT
#include "src/device/cuda_places.h"

#include "src/core/format.h"
#include "src/device/cuda_library.h"

namespace polarquant::device {

std::string name_of(const CudaPlaces& places, size_t i) {
  return places.are_listed ? format_text("options.devices[{}]", i) : "options.device";
}

void require_cuda_devices(const CudaPlaces& places) {
  for (size_t i = 0; i < places.devices.size(); ++i)
    require_cuda_device(name_of(places, i).c_str(), places.devices[i]);
}

}  // namespace polarquant::device
