// SPDX-License-Identifier: MIT
// A trained rotation's products (RotationKernels in codec/rotation.h) for the best target of this
// machine.
#pragma once

namespace polarquant {

struct BasisProducts {
  void (*multiply)(const float* rows, int dim, const float* x, float* y);
  void (*multiply_transpose)(const float* rows, int dim, const float* x, float* y);
};

BasisProducts simd_basis_products();

}  // namespace polarquant
