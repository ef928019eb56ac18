// SPDX-License-Identifier: MIT
// The normalized Walsh-Hadamard transform, H_1 = [1], H_2n = [H_n H_n; H_n −H_n]/√2: orthogonal,
// symmetric, its own inverse. O(size log size), in place.
//
// The order of the float operations is part of what the function promises, since its results reach
// stored bytes: butterflies (a+b, a−b) at distance 1, 2, 4, …, size/2, and one multiplication of
// each value by float(1/√size) at the end.
#pragma once

namespace polarquant {

/// Transforms x, `size` floats, size a power of two ≥ 1.
void walsh_hadamard(float* x, int size) noexcept;

}  // namespace polarquant
