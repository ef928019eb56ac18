// SPDX-License-Identifier: MIT
// A trained rotation: rows times a matrix, both as integers of 16 bits (src/codec/rotation.h).
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// Bytes of a plane of a row's values, or of the basis's rows.
uint32_t basis_stride(int dim);
/// The first `wanted` rows of a basis, (dim, dim), as EncodeView::basis has them.
std::vector<int8_t> basis_planes(const int16_t* basis, int dim, int wanted);

/// u = units·(basis·values) of every row, the first coded_dims coordinates: Rotation::apply after
/// make_directions.
void multiply_by_basis(const EncodeView& view, const EncodeRows& rows, cudaStream_t stream);

}  // namespace polarquant::cuda
