// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/codec/rotation.h"
#include "src/core/aligned_buffer.h"
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

// A rounded coordinate of x is off by half at most, and rows are as long as 1 but for rounding.
TEST_CASE("products with a basis are those of real numbers but for rounding", "[rotation]") {
  for (const int dim : {1, 3, 64, 100, 384}) {
    CAPTURE(dim);
    const Rotation dense(RotationKind::dense, dim, 7);
    AlignedVector<int16_t> basis;
    for (int i = 0; i < dim; ++i) {
      std::vector<float> axis(static_cast<size_t>(dim));
      axis[static_cast<size_t>(i)] = 1;
      dense.apply_transpose(axis.data());
      for (const float value : axis) basis.push_back(basis_number(value));
    }
    const Rotation rotation(dim, basis);
    std::vector<float> x = gaussian_rows(1, dim, 3);
    if (dim > 1) x[1] *= 100;
    float most = 0;
    for (const float value : x) most = std::fmax(most, std::fabs(value));
    std::vector<float> y = x;
    rotation.apply(y.data());
    const double step = static_cast<double>(most) / most_basis_value(dim);
    for (int i = 0; i < dim; ++i) {
      double exact = 0;
      for (int j = 0; j < dim; ++j)
        exact += double{x[static_cast<size_t>(j)]} * basis[static_cast<size_t>(i * dim + j)];
      exact /= kBasisOne;
      CHECK(std::fabs(y[static_cast<size_t>(i)] - exact) <=
            .5 * step * std::sqrt(dim) * kLongestBasisRow + 1e-6 * norm_of(x));
    }
    std::vector<float> back = y;
    rotation.apply_transpose(back.data());
    double error2 = 0;
    for (size_t j = 0; j < x.size(); ++j) error2 += std::pow(back[j] - x[j], 2);
    CHECK(error2 <= 1e-5 * norm_of(x) * norm_of(x));
  }
}

TEST_CASE("sums of a basis' products stay within 32 bits in any dimension", "[rotation]") {
  for (int dim = 1; dim <= 65535; dim = dim * 3 / 2 + 1) {
    CAPTURE(dim);
    const double longest = std::sqrt(dim) * most_basis_value(dim);
    CHECK(longest * kLongestBasisRow * kBasisOne <= 0x1p31);
    CHECK(most_basis_value(dim) >= 500);
  }
}
