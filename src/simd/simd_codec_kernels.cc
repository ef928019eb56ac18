// SPDX-License-Identifier: MIT
#include "src/simd/simd_codec_kernels.h"

#include "src/simd/exact_sums.h"
#include "src/simd/multiply_basis.h"
#include "src/simd/rotate.h"
#include "src/simd/trellis_decode.h"
#include "src/simd/trellis_search.h"

namespace polarquant {

CodecKernels simd_codec_kernels() {
  CodecKernels kernels;
  kernels.rotation = simd_rotation_kernels();
  const BasisProducts products = simd_basis_products();
  kernels.rotation.multiply = products.multiply;
  kernels.rotation.multiply_transpose = products.multiply_transpose;
  kernels.walsh_hadamard = simd_walsh_hadamard();
  const ExactSums sums = simd_exact_sums();
  kernels.dot_exact = sums.dot_exact;
  kernels.dot_float = sums.dot_float;
  kernels.add_multiple = sums.add_multiple;
  kernels.subtract_multiple = sums.subtract_multiple;
  kernels.trellis = simd_trellis_kernels();
  kernels.trellis.decode_segments = simd_decode_segments();
  return kernels;
}

}  // namespace polarquant
