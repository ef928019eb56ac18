// SPDX-License-Identifier: MIT
// The axes by subspace iteration (Halko, Martinsson and Tropp, SIAM Review 53, 2011,
// algorithm 4.4).
#include "src/scan/search/leading_axes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/checked_size.h"
#include "src/core/random.h"
#include "src/simd/exact_sums.h"
#include "src/simd/matrix_product.h"
#include "src/simd/round_to_int8.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// With two, the axes leave out 1.17 times the squared length that the best ones leave out, with
/// four 1.08 (centroids of embeddings), which takes twice as long.
constexpr int kIterations = 2;
/// Vectors that are looked at, for each axis.
constexpr int64_t kVectorsPerAxis = 16;
constexpr uint64_t kSeed = 1;
/// A column that keeps less of its length lies in the space of those before it.
constexpr double kLeastShare = 1e-5;

/// One of so many of the vectors, in units of their largest number: squares are floats then.
std::vector<float> some_of(int64_t count, int dim, const float* vectors, int64_t most) {
  const int64_t step = std::max<int64_t>(1, count / most);
  std::vector<float> some;
  float largest = 0;
  for (int64_t i = 0; i < count && std::ssize(some) < most * dim; i += step) {
    const float* from = vectors + i * dim;
    some.insert(some.end(), from, from + dim);
    largest = std::max(largest, largest_magnitude(from, dim));
  }
  if (largest > 0)
    for (float& value : some) value /= largest;
  return some;
}

/// Makes the columns, (count, dim) in memory, orthogonal to each other and of length 1, or 0.
void orthogonalize(int64_t count, int dim, float* columns) {
  const ExactSums sums = simd_exact_sums();
  for (int64_t i = 0; i < count; ++i) {
    float* own = columns + i * dim;
    const double length = std::sqrt(sums.dot_exact(own, own, dim));
    // Twice is enough (Giraud, Langou and Rozložník, 2005).
    for (int round = 0; round < 2; ++round) {
      for (int64_t j = 0; j < i; ++j) {
        const float* other = columns + j * dim;
        const auto along = static_cast<float>(sums.dot_exact(own, other, dim));
        sums.subtract_multiple(own, along, other, dim, own);
      }
    }
    const double left = std::sqrt(sums.dot_exact(own, own, dim));
    const double inverse = left > kLeastShare * length ? 1 / left : 0;
    for (int j = 0; j < dim; ++j) own[j] = static_cast<float>(own[j] * inverse);
  }
}

/// (count, dim) in memory: an orthogonal basis of the space in which the vectors are longest,
/// nearly.
std::vector<float> find_axes(int64_t n, int dim, const float* vectors, int64_t count) {
  Random random(kSeed);
  std::vector<float> axes(static_cast<size_t>(count * dim));
  for (float& value : axes) value = static_cast<float>(random.normal());
  std::vector<float> coordinates(checked_mul(n, count, "vectors x axes"));
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    // Vectors are the rows of V: V·axes, then Vᵀ of this.
    multiply_matrices<float>({.rows = n,
                              .columns = count,
                              .inner = dim,
                              .alpha = 1,
                              .a = {vectors, dim, true},
                              .b = {axes.data(), dim, false},
                              .beta = 0,
                              .c = coordinates.data(),
                              .c_stride = n});
    multiply_matrices<float>({.rows = dim,
                              .columns = count,
                              .inner = n,
                              .alpha = 1,
                              .a = {vectors, dim, false},
                              .b = {coordinates.data(), n, false},
                              .beta = 0,
                              .c = axes.data(),
                              .c_stride = dim});
    orthogonalize(count, dim, axes.data());
  }
  return axes;
}

/// The axes' errors are as good as random, uniform over a unit, so that P's norm is off by at most
/// the deviation times √axes + √dim (Davidson and Szarek 2001), and PᵀP's by twice this. Twice
/// that, to be sure.
double largest_error(int axes, int dim) {
  const double deviation = 1 / (kBasisOne * std::sqrt(12.0));
  return 4 * deviation *
         (std::sqrt(static_cast<double>(axes)) + std::sqrt(static_cast<double>(dim)));
}

}  // namespace

LeadingAxes::LeadingAxes(int64_t count, int dim, const float* vectors, int size)
    : dim_(dim),
      size_(size),
      error_bound_(largest_error(size - 1, dim)),
      rotation_(RotationKind::hadamard, size, kSeed),
      kernels_(simd_codec_kernels().rotation) {
  rotation_.use_kernels(kernels_);
  const std::vector<float> some = some_of(count, dim, vectors, kVectorsPerAxis * size);
  const std::vector<float> axes = find_axes(std::ssize(some) / dim, dim, some.data(), size - 1);
  axes_.resize(axes.size());
  std::transform(axes.begin(), axes.end(), axes_.begin(), basis_number);
}

void LeadingAxes::reduce(int64_t n, const float* x, float* out) const {
  const auto dot = simd_exact_sums().dot_exact;
  const int axes = size_ - 1;
  AlignedVector<float> along(static_cast<size_t>(n * dim_));
  kernels_.multiply(axes_.data(), dim_, axes, n, x, along.data());
  for (int64_t i = 0; i < n; ++i) {
    const float* own = x + i * dim_;
    const float* coordinates = along.data() + i * dim_;
    float* to = out + i * size_;
    std::copy_n(coordinates, axes, to);
    const double norm2 = dot(own, own, dim_);
    const double remaining2 = norm2 - dot(coordinates, coordinates, axes) + error_bound_ * norm2;
    to[axes] = static_cast<float>(std::sqrt(std::max(remaining2, 0.0)));
    rotation_.apply(to);
  }
}

size_t LeadingAxes::memory_bytes() const {
  return axes_.capacity() * sizeof(int16_t) + rotation_.memory_bytes();
}

}  // namespace polarquant
