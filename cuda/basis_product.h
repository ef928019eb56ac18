// SPDX-License-Identifier: MIT
// A trained rotation: rows times a matrix, both as integers of 16 bits (src/codec/rotation.h).
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "cuda/rotation_view.h"

namespace polarquant::cuda {

/// Bytes of a plane of a row's values, or of the basis's rows.
uint32_t basis_stride(int dim);
/// The first `wanted` rows of a basis, (dim, dim), as RotationView::basis has them.
std::vector<int8_t> basis_planes(const int16_t* basis, int dim, int wanted);

/// Rows as round_for_basis leaves them: values, (n, 2, value_stride), and what 1 means, (n). A
/// value v is 256·high + low, low in a row's first plane, high in its second.
struct BasisRows {
  int64_t n;
  const int8_t* values;
  const float* units;
  float* out;  // (n, dim)
};

/// out = units·(basis·values) of every row, the first `wanted` coordinates: Rotation::apply.
void multiply_by_basis(const RotationView& view, const BasisRows& rows, cudaStream_t stream);

}  // namespace polarquant::cuda
