// SPDX-License-Identifier: MIT
// dot_exact and add_multiple (codec/dot.h) for the best target of this machine.
#pragma once

namespace polarquant {

struct ExactSums {
  double (*dot)(const float* a, const float* b, int n);
  void (*add_multiple)(double factor, const float* x, int n, double* sum);
};

ExactSums simd_exact_sums();

}  // namespace polarquant
