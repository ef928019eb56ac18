// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/device_index.h"
#include "cuda/interface.h"

namespace polarquant::cuda {

/// The search of the function table (interface.h), for an inverted file. Waits for the stream
/// before it returns.
void search_lists(const DeviceIndex& index, const SearchRequest& request);

}  // namespace polarquant::cuda
