// SPDX-License-Identifier: MIT
#include "src/codec/walsh_hadamard.h"

#include <cmath>

namespace polarquant {

void walsh_hadamard(float* x, int size) noexcept {
  for (int distance = 1; distance < size; distance *= 2) {
    for (int start = 0; start < size; start += 2 * distance) {
      for (int i = start; i < start + distance; ++i) {
        const float a = x[i];
        const float b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
    }
  }
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
  for (int i = 0; i < size; ++i) x[i] *= scale;
}

}  // namespace polarquant
