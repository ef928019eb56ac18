// SPDX-License-Identifier: MIT
#include "src/scan/simd_codec_kernels.h"

#include "src/scan/kernels/rotate.h"
#include "src/scan/kernels/trellis_search.h"

namespace polarquant {

CodecKernels simd_codec_kernels() {
  CodecKernels kernels;
  kernels.rotation = simd_rotation_kernels();
  kernels.trellis = simd_trellis_kernels();
  return kernels;
}

}  // namespace polarquant
