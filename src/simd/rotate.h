// SPDX-License-Identifier: MIT
// The hadamard rotation (codec/rotation.h) and its transform for the best target of this machine.
#pragma once

#include "src/codec/rotation.h"

namespace polarquant {

RotationKernels simd_rotation_kernels();

using WalshHadamard = void (*)(float* x, int size);
WalshHadamard simd_walsh_hadamard();

}  // namespace polarquant
