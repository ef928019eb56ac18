// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/device_index.h"

namespace polarquant::cuda {

/// FunctionTable::score_listed. Throws.
void score_listed(const DeviceIndex& index, const ListedRowsRequest& request);

}  // namespace polarquant::cuda
