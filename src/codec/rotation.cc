// SPDX-License-Identifier: MIT
#include "src/codec/rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/codec/dot.h"
#include "src/codec/walsh_hadamard.h"
#include "src/core/checked_size.h"
#include "src/core/random.h"

namespace polarquant {
namespace {

constexpr uint64_t kSignStream = 0;
constexpr uint64_t kReflectorStream = 1;

void flip(const HadamardTables& tables, int layer, float* x) {
  const uint32_t* masks = tables.sign_masks + static_cast<size_t>(layer) * tables.dim;
  for (int i = 0; i < tables.dim; ++i) {
    x[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(x[i]) ^ masks[i]);
  }
}

void butterfly(int dim, int round, float* x) {
  const int half = dim / 2;
  float* low = x + (round % 2 == 0 ? 0 : dim - 2 * half);
  float* high = low + half;
  for (int i = 0; i < half; ++i) {
    const float sum = low[i] + high[i];
    const float difference = low[i] - high[i];
    low[i] = sum * kSqrtHalf;
    high[i] = difference * kSqrtHalf;
  }
}

void rotate(const HadamardTables& tables, float* x) {
  float* back = x + tables.dim - tables.transform_size;
  for (int round = 0; round < kHadamardRounds; ++round) {
    flip(tables, kSignLayersPerRound * round, x);
    walsh_hadamard(x, tables.transform_size);
    flip(tables, kSignLayersPerRound * round + 1, x);
    butterfly(tables.dim, round, x);
    flip(tables, kSignLayersPerRound * round + 2, x);
    walsh_hadamard(back, tables.transform_size);
  }
}

void rotate_transpose(const HadamardTables& tables, float* x) {
  float* back = x + tables.dim - tables.transform_size;
  for (int round = kHadamardRounds - 1; round >= 0; --round) {
    walsh_hadamard(back, tables.transform_size);
    flip(tables, kSignLayersPerRound * round + 2, x);
    butterfly(tables.dim, round, x);
    flip(tables, kSignLayersPerRound * round + 1, x);
    walsh_hadamard(x, tables.transform_size);
    flip(tables, kSignLayersPerRound * round, x);
  }
}

void multiply_rows(const int16_t* rows, int dim, int wanted, int64_t count, const float* x,
                   float* y) {
  std::vector<int16_t> values(static_cast<size_t>(dim));
  for (int64_t n = 0; n < count; ++n, x += dim, y += dim) {
    const float unit = round_for_basis(x, dim, values.data()) / kBasisOne;
    for (int i = 0; i < wanted; ++i) {
      const int16_t* row = rows + static_cast<int64_t>(i) * dim;
      const int64_t sum = std::inner_product(values.begin(), values.end(), row, int64_t{0});
      y[i] = unit * static_cast<float>(sum);
    }
  }
}

void multiply_columns(const int16_t* rows, int dim, const float* x, float* y) {
  std::fill_n(y, dim, 0.0F);
  for (int i = 0; i < dim; ++i, rows += dim) {
    const float factor = x[i] / kBasisOne;
    for (int j = 0; j < dim; ++j) y[j] += factor * static_cast<float>(rows[j]);
  }
}

}  // namespace

int most_basis_value(int dim) {
  const double most = 0x1p31 / kBasisOne / kLongestBasisRow / std::sqrt(static_cast<double>(dim));
  return static_cast<int>(std::min<double>(most, std::numeric_limits<int16_t>::max()));
}

float round_for_basis(const float* x, int dim, int16_t* values) {
  float most = 0;
  for (int j = 0; j < dim; ++j) most = std::max(most, std::fabs(x[j]));
  const auto largest = static_cast<float>(most_basis_value(dim));
  const float to_values = largest / most;
  if (!(to_values <= std::numeric_limits<float>::max())) {
    std::fill_n(values, dim, int16_t{0});
    return 0;
  }
  for (int j = 0; j < dim; ++j) values[j] = static_cast<int16_t>(std::lrint(x[j] * to_values));
  return most / largest;
}

RotationKernels::RotationKernels()
    : apply(rotate),
      apply_transpose(rotate_transpose),
      multiply(multiply_rows),
      multiply_transpose(multiply_columns) {}

Rotation::Rotation(int dim, AlignedVector<int16_t> basis)
    : kind_(RotationKind::pca), dim_(dim), basis_(std::move(basis)) {}

Rotation::Rotation(RotationKind kind, int dim, uint64_t seed)
    : kind_(kind == RotationKind::pca ? RotationKind::hadamard : kind), dim_(dim) {
  switch (kind_) {
    case RotationKind::none:
    case RotationKind::pca:
      break;
    case RotationKind::hadamard:
      transform_size_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(dim)));
      draw_signs(kHadamardRounds * kSignLayersPerRound, seed);
      break;
    case RotationKind::dense:
      draw_signs(1, seed);
      draw_reflectors(seed);
      break;
  }
}

void Rotation::draw_signs(int layers, uint64_t seed) {
  Random random(seed, kSignStream);
  sign_masks_.resize(checked_mul(layers, dim_, "rotation"));
  for (uint32_t& mask : sign_masks_) {
    mask = static_cast<uint32_t>(random.next() >> 32) & 0x80000000U;
  }
}

// The reflection that takes a normal vector x to the first axis is I − v·vᵀ with v = (x +
// sign(x₁)‖x‖e₁)·√2/‖…‖; with random signs as the last factor the product is Haar-distributed.
void Rotation::draw_reflectors(uint64_t seed) {
  Random random(seed, kReflectorStream);
  reflectors_.resize(reflector_offset(dim_ - 1));
  std::vector<double> x;
  for (int first = 0; first + 1 < dim_; ++first) {
    x.resize(dim_ - first);
    double norm2 = 0;
    for (double& value : x) {
      value = random.normal();
      norm2 += value * value;
    }
    const double norm = std::sqrt(norm2);
    const double reflected_norm2 = 2 * norm2 + 2 * norm * std::fabs(x[0]);
    x[0] += x[0] < 0 ? -norm : norm;
    const double factor = std::sqrt(2 / reflected_norm2);
    float* reflector = &reflectors_[reflector_offset(first)];
    for (size_t i = 0; i < x.size(); ++i) reflector[i] = static_cast<float>(x[i] * factor);
  }
}

size_t Rotation::reflector_offset(int first) const {
  // The numbers of reflectors before this one: dim + (dim−1) + … of `first` reflectors.
  const auto dim = static_cast<size_t>(dim_);
  const auto count = static_cast<size_t>(first);
  return count * dim - (count * count - count) / 2;
}

void Rotation::reflect(int first, float* x) const {
  const float* reflector = &reflectors_[reflector_offset(first)];
  const int count = dim_ - first;
  const auto along = static_cast<float>(dot_exact(reflector, x + first, count));
  for (int i = 0; i < count; ++i) x[first + i] -= along * reflector[i];
}

void Rotation::apply(float* x, int64_t count, int wanted) const {
  if (kind_ == RotationKind::pca) {
    kernels_.multiply(basis_.data(), dim_, wanted, count, x, x);
    for (int64_t n = 0; n < count; ++n) std::fill(x + n * dim_ + wanted, x + (n + 1) * dim_, 0.0F);
    return;
  }
  for (int64_t n = 0; n < count; ++n, x += dim_) {
    if (kind_ == RotationKind::hadamard) {
      kernels_.apply(tables(), x);
    } else if (kind_ == RotationKind::dense) {
      flip(tables(), 0, x);
      for (int first = dim_ - 2; first >= 0; --first) reflect(first, x);
    }
  }
}

void Rotation::apply_transpose(float* x) const {
  if (kind_ == RotationKind::hadamard) {
    kernels_.apply_transpose(tables(), x);
  } else if (kind_ == RotationKind::dense) {
    for (int first = 0; first + 1 < dim_; ++first) reflect(first, x);
    flip(tables(), 0, x);
  } else if (kind_ == RotationKind::pca) {
    thread_local AlignedVector<float> before;
    before.assign(x, x + dim_);
    kernels_.multiply_transpose(basis_.data(), dim_, before.data(), x);
  }
}

size_t Rotation::memory_bytes() const {
  return sizeof *this + sign_masks_.size() * sizeof(uint32_t) + reflectors_.size() * sizeof(float) +
         basis_.size() * sizeof(int16_t);
}

}  // namespace polarquant
