// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include "src/codec/rotation.h"
#include "src/core/checksum.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::gaussian_rows;

namespace {

double norm_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("a rotation keeps lengths and its transpose undoes it", "[rotation]") {
  for (const RotationKind kind :
       {RotationKind::none, RotationKind::hadamard, RotationKind::dense}) {
    for (const int dim : {1, 2, 3, 7, 64, 100, 127, 128, 129, 384, 511}) {
      CAPTURE(static_cast<int>(kind), dim);
      const Rotation rotation(kind, dim, 7);
      const std::vector<float> x = gaussian_rows(1, dim, 3);
      std::vector<float> y = x;
      rotation.apply(y.data());
      CHECK(std::fabs(norm_of(y) - norm_of(x)) <= 2e-6 * norm_of(x));
      if (kind != RotationKind::none && dim > 2) CHECK(y != x);
      rotation.apply_transpose(y.data());
      double error = 0;
      for (int j = 0; j < dim; ++j) error = std::fmax(error, std::fabs(y[j] - x[j]));
      CHECK(error <= 4e-6 * norm_of(x));
    }
  }
}

TEST_CASE("any dim to 65535 rotates", "[rotation]") {
  std::vector<float> x(65535, 0.0F);
  x[12345] = 3;
  Rotation(RotationKind::hadamard, 65535, 1).apply(x.data());
  CHECK(std::fabs(norm_of(x) - 3) < 1e-4);
  double largest = 0;
  for (const float value : x) largest = std::fmax(largest, std::fabs(value));
  CHECK(largest < 0.1);
}

TEST_CASE("a single huge coordinate spreads as a dense rotation spreads it", "[rotation]") {
  // The fourth moment of u over many seeds is 3 for Gaussian coordinates.
  for (const RotationKind kind : {RotationKind::hadamard, RotationKind::dense}) {
    for (const int dim : {100, 127, 384}) {
      double fourth = 0;
      for (uint64_t seed = 0; seed < 200; ++seed) {
        std::vector<float> x(dim, 0.0F);
        x[seed % dim] = std::sqrt(static_cast<float>(dim));
        Rotation(kind, dim, seed).apply(x.data());
        for (const float value : x) fourth += std::pow(value, 4) / dim / 200;
      }
      CAPTURE(static_cast<int>(kind), dim, fourth);
      CHECK(fourth > 2.6);
      CHECK(fourth < 3.4);
    }
  }
}

TEST_CASE("seeds give different rotations, one seed always the same", "[rotation]") {
  const std::vector<float> x = gaussian_rows(1, 100, 3);
  for (const RotationKind kind : {RotationKind::hadamard, RotationKind::dense}) {
    std::vector<float> a = x;
    std::vector<float> b = x;
    std::vector<float> again = x;
    Rotation(kind, 100, 1).apply(a.data());
    Rotation(kind, 100, 2).apply(b.data());
    Rotation(kind, 100, 1).apply(again.data());
    CHECK(a == again);
    CHECK(a != b);
  }
}
