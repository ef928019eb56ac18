// SPDX-License-Identifier: MIT
// A trained rotation's products (RotationKernels in codec/rotation.h) for the best target of this
// machine.
#pragma once

#include <cstdint>

namespace polarquant {

struct BasisProducts {
  void (*multiply)(const int16_t* rows, int dim, int64_t count, const float* x, float* y);
  void (*multiply_transpose)(const int16_t* rows, int dim, const float* x, float* y);
};

BasisProducts simd_basis_products();

}  // namespace polarquant
