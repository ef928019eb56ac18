// SPDX-License-Identifier: MIT
// Every faster function that there is for a codec: those of src/simd, and the search for the
// nearest centroid, which rounds to bytes as inverted files do.
#pragma once

#include "src/codec/codec_kernels.h"

namespace polarquant {

CodecKernels fast_codec_kernels();

}  // namespace polarquant
