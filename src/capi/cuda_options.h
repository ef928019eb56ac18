// SPDX-License-Identifier: MIT
#pragma once

#include "polarquant/polarquant.h"

namespace polarquant::capi {

polar_cuda_options default_cuda_options();
/// NULL: the defaults. Throws bad_argument for a device below 0.
polar_cuda_options read_cuda_options(const polar_cuda_options* given);

}  // namespace polarquant::capi
