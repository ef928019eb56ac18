// SPDX-License-Identifier: MIT
#pragma once

#include "src/codec/codec_kernels.h"

namespace polarquant {

/// A codec's functions for the best instruction set of this machine; plain ones where it has none.
CodecKernels simd_codec_kernels();

}  // namespace polarquant
