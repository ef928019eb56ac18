// SPDX-License-Identifier: MIT
#include "src/codec/dot.h"

namespace polarquant {
namespace {

constexpr int kPartialSums = 16;

template <typename T>
T interleaved_dot(const float* a, const float* b, int n) noexcept {
  T sums[kPartialSums] = {};
  int i = 0;
  for (; i + kPartialSums <= n; i += kPartialSums) {
    for (int lane = 0; lane < kPartialSums; ++lane) {
      sums[lane] += static_cast<T>(a[i + lane]) * static_cast<T>(b[i + lane]);
    }
  }
  for (int lane = 0; i + lane < n; ++lane) {
    sums[lane] += static_cast<T>(a[i + lane]) * static_cast<T>(b[i + lane]);
  }
  for (int width = kPartialSums / 2; width >= 1; width /= 2) {
    for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

}  // namespace

double dot_exact(const float* a, const float* b, int n) noexcept {
  return interleaved_dot<double>(a, b, n);
}

float dot_float(const float* a, const float* b, int n) noexcept {
  return interleaved_dot<float>(a, b, n);
}

void subtract_multiple(const float* a, float factor, const float* b, int n, float* out) noexcept {
  for (int i = 0; i < n; ++i) out[i] = a[i] - factor * b[i];
}

void add_multiple(double factor, const float* x, int n, double* sum) noexcept {
  for (int i = 0; i < n; ++i) sum[i] += factor * static_cast<double>(x[i]);
}

}  // namespace polarquant
