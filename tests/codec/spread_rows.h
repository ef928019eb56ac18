// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/core/random.h"

namespace polarquant::test {

/// Gaussian rows whose variance falls along hidden axes, as that of real embeddings does: axis i
/// has (1 + i/8)^(-decay), mixed by Householder reflections. decay 0: isotropic.
inline std::vector<float> spread_rows(int64_t n, int dim, double decay, uint64_t seed) {
  constexpr int kReflections = 3;
  Random axes(99);
  std::vector<std::vector<double>> reflectors(kReflections,
                                              std::vector<double>(static_cast<size_t>(dim)));
  for (auto& reflector : reflectors) {
    double norm2 = 0;
    for (double& value : reflector) norm2 += (value = axes.normal(), value * value);
    for (double& value : reflector) value /= std::sqrt(norm2);
  }
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n) * static_cast<size_t>(dim));
  std::vector<double> x(static_cast<size_t>(dim));
  for (int64_t row = 0; row < n; ++row) {
    for (int i = 0; i < dim; ++i)
      x[static_cast<size_t>(i)] = random.normal() * std::pow(1 + i / 8.0, -decay / 2);
    for (const auto& reflector : reflectors) {
      double along = 0;
      for (size_t i = 0; i < x.size(); ++i) along += reflector[i] * x[i];
      for (size_t i = 0; i < x.size(); ++i) x[i] -= 2 * along * reflector[i];
    }
    for (int i = 0; i < dim; ++i)
      rows[static_cast<size_t>(row * dim + i)] = static_cast<float>(x[static_cast<size_t>(i)]);
  }
  return rows;
}

}  // namespace polarquant::test
