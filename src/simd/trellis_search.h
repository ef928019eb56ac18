// SPDX-License-Identifier: MIT
// The passes of the trellis encoder (codec/trellis.h) for the best target of this machine.
#pragma once

#include "src/codec/trellis.h"

namespace polarquant {

TrellisKernels simd_trellis_kernels();

}  // namespace polarquant
