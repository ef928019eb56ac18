// SPDX-License-Identifier: MIT
// A trained rotation's products (RotationKernels in codec/rotation.h) for the best target of this
// machine.
#pragma once

#include "src/codec/rotation.h"

namespace polarquant {

struct BasisProducts {
  decltype(RotationKernels::multiply) multiply;
  decltype(RotationKernels::multiply_transpose) multiply_transpose;
};

BasisProducts simd_basis_products();

}  // namespace polarquant
