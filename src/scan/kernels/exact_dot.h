// SPDX-License-Identifier: MIT
// dot_exact (codec/dot.h) for the best target of this machine.
#pragma once

namespace polarquant {

using ExactDot = double (*)(const float* a, const float* b, int n);

ExactDot simd_exact_dot();

}  // namespace polarquant
