// SPDX-License-Identifier: MIT
#include "src/scan/simd_codec_kernels.h"

#include "src/scan/kernels/exact_dot.h"
#include "src/scan/kernels/rotate.h"
#include "src/scan/kernels/trellis_decode.h"
#include "src/scan/kernels/trellis_search.h"

namespace polarquant {

CodecKernels simd_codec_kernels() {
  CodecKernels kernels;
  kernels.rotation = simd_rotation_kernels();
  kernels.dot_exact = simd_exact_dot();
  kernels.trellis = simd_trellis_kernels();
  kernels.trellis.decode_front = simd_decode_front();
  return kernels;
}

}  // namespace polarquant
