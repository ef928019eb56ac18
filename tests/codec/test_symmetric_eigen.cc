// SPDX-License-Identifier: MIT
// Eigenvectors against what defines them, A·v = λ·v and orthonormal rows, for matrices that are
// hard: of few dimensions, of low rank, with equal eigenvalues, with numbers near both ends of
// double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/codec/symmetric_eigen.h"
#include "src/core/checksum.h"
#include "src/core/random.h"
#include "src/core/status.h"
#include "src/core/threads.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// Second moments of `count` Gaussian rows whose coordinate j has the deviation decay^j.
std::vector<double> moments(int dim, int count, double decay, double scale) {
  Random random(7);
  std::vector<double> rows;
  for (int r = 0; r < count; ++r) {
    double deviation = scale;
    for (int j = 0; j < dim; ++j, deviation *= decay) rows.push_back(random.normal() * deviation);
  }
  std::vector<double> matrix(static_cast<size_t>(dim) * static_cast<size_t>(dim));
  add_second_moments(dim, count, rows.data(), matrix.data());
  return matrix;
}

void check_solution(int dim, const std::vector<double>& matrix) {
  const auto n = static_cast<size_t>(dim);
  const auto at = [&](size_t i, size_t j) { return matrix[std::min(i, j) * n + std::max(i, j)]; };
  std::vector<double> vectors = matrix;
  const std::vector<double> values = solve_symmetric_eigen(dim, &vectors);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  // Rounding errors of dim sums, of both solvers.
  const double bound = 1e-15 * (dim + 10);
  double wrong = 0, askew = 0;
  for (size_t i = 0; i < n; ++i) {
    const double* v = &vectors[i * n];
    if (i > 0) REQUIRE(values[i] >= values[i - 1]);
    for (size_t row = 0; row < n; ++row) {
      double sum = 0;
      for (size_t j = 0; j < n; ++j) sum += at(row, j) * v[j];
      wrong = std::max(wrong, std::fabs(sum - values[i] * v[row]));
      double dot = 0;
      for (size_t j = 0; j < n; ++j) dot += v[j] * vectors[row * n + j];
      askew = std::max(askew, std::fabs(dot - (row == i ? 1 : 0)));
    }
  }
  CHECK(wrong <= bound * largest);
  CHECK(askew <= bound);
}

}  // namespace

TEST_CASE("second moments are sums of products above the diagonal", "[pca]") {
  const int dim = 37, count = 51;
  Random random(3);
  std::vector<double> rows;
  for (int i = 0; i < dim * count; ++i) rows.push_back(random.normal());
  std::vector<double> matrix(dim * dim, .5);
  add_second_moments(dim, count, rows.data(), matrix.data());
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j) {
      double sum = .5;
      for (int r = 0; r < count && j >= i; ++r) sum += rows[r * dim + i] * rows[r * dim + j];
      CHECK(matrix[i * dim + j] == Approx(sum).margin(1e-12));
    }
}

TEST_CASE("eigenvectors solve their matrix and are orthonormal", "[pca]") {
  const int dim = GENERATE(1, 2, 3, 15, 16, 17, 64, 129);
  const double decay = GENERATE(1., .9, .5);
  const int count = GENERATE(1, 5, 300);  // the rank
  INFO(dim << " dimensions, decay " << decay << ", rank " << count);
  check_solution(dim, moments(dim, count, decay, 1));
}

TEST_CASE("eigenvectors of numbers far from 1", "[pca]") {
  const double scale = GENERATE(1e-120, 1e-20, 1e20, 1e120);
  check_solution(40, moments(40, 100, .9, scale));
}

TEST_CASE("eigenvectors of matrices with equal eigenvalues", "[pca]") {
  constexpr int kDim = 33;
  std::vector<double> matrix(kDim * kDim);
  SECTION("all 0") {}
  SECTION("a diagonal") {
    for (int i = 0; i < kDim; ++i) matrix[i * kDim + i] = 3 - i % 3;
  }
  SECTION("one number everywhere") { std::fill(matrix.begin(), matrix.end(), 2.0); }
  SECTION("blocks that nothing joins, of both signs") {
    for (int i = 0; i + 1 < kDim; i += 2) matrix[i * kDim + i + 1] = i % 4 - 1;
  }
  SECTION("nearly 0 beside 1") {
    for (int i = 0; i < kDim; ++i)
      for (int j = i; j < kDim; ++j) matrix[i * kDim + j] = i == 0 && j == 0 ? 1 : 1e-160 * (i + j);
  }
  check_solution(kDim, matrix);
}

#ifdef POLARQUANT_OWN_EIGEN

TEST_CASE("without LAPACK eigenvectors are the same bytes on any machine and number of threads",
          "[pca]") {
  const int threads = GENERATE(1, 2, 5);
  const int before = default_threads();
  set_default_threads(threads);
  std::vector<double> matrix = moments(200, 300, .99, 1);
  const std::vector<double> values = solve_symmetric_eigen(200, &matrix);
  set_default_threads(before);
  CHECK(checksum64(values.data(), values.size() * sizeof(double)) == 0x645e8cc76ebffdf9);
  CHECK(checksum64(matrix.data(), matrix.size() * sizeof(double)) == 0x31a1644dc6d7e119);
}

TEST_CASE("without LAPACK numbers that are not finite are refused", "[pca]") {
  std::vector<double> matrix = moments(20, 40, .9, 1);
  matrix[25] =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(solve_symmetric_eigen(20, &matrix), Error);
}

#endif
