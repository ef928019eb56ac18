// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/device_index.h"
#include "cuda/interface.h"

namespace polarquant::cuda {

/// The results of a search of no rows.
void write_no_results(const DeviceIndex& index, const SearchRequest& request);

/// The search of the function table (interface.h), for all rows. Waits for the stream before it
/// returns.
void search(const DeviceIndex& index, const SearchRequest& request);

}  // namespace polarquant::cuda
