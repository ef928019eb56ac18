// SPDX-License-Identifier: MIT
// The sums of codec/dot.h for the best target of this machine.
#pragma once

namespace polarquant {

struct ExactSums {
  double (*dot_exact)(const float* a, const float* b, int n);
  float (*dot_float)(const float* a, const float* b, int n);
  void (*add_multiple)(double factor, const float* x, int n, double* sum);
  void (*subtract_multiple)(const float* a, float factor, const float* b, int n, float* out);
};

ExactSums simd_exact_sums();

}  // namespace polarquant
