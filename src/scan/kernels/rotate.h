// SPDX-License-Identifier: MIT
// The hadamard rotation (codec/rotation.h) for the best target of this machine.
#pragma once

#include "src/codec/rotation.h"

namespace polarquant {

RotationKernels simd_rotation_kernels();

}  // namespace polarquant
