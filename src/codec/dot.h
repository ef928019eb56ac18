// SPDX-License-Identifier: MIT
// Sums in one stated order, so that plain code and any vector width give the same bits: 16
// interleaved partial sums, element i in sum i mod 16, then the tree ((0+8)+(4+12))… that halving a
// register gives. In double the products of floats are exact and cannot overflow.
#pragma once

namespace polarquant {

/// Σ a_i·b_i in double: for everything that reaches a stored byte.
double dot_exact(const float* a, const float* b, int n) noexcept;
/// Σ a_i·b_i in float: for scores.
float dot_float(const float* a, const float* b, int n) noexcept;
/// sum_i += factor·x_i, the product rounded before it is added.
void add_multiple(double factor, const float* x, int n, double* sum) noexcept;

/// out_i := a_i − factor·b_i, the product rounded before it is subtracted.
void subtract_multiple(const float* a, float factor, const float* b, int n, float* out) noexcept;

}  // namespace polarquant
