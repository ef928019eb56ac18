// SPDX-License-Identifier: MIT
// A codec's rotation, as kernels see it.
#pragma once

#include <cstdint>

#include "cuda/interface.h"

namespace polarquant::cuda {

/// See RotationDescription.
struct RotationView {
  Rotation kind;
  int32_t dim;
  int32_t wanted;  // coordinates of the result that are needed
  int32_t transform_size;
  float transform_scale;
  const uint32_t* sign_masks;  // (9, dim)
  // Of Rotation::basis.
  float largest_value;    // to which the largest coordinate is rounded
  float basis_one;        // the number that stands for 1
  uint32_t value_stride;  // bytes of a plane of a row's values
  const int8_t* basis;    // (wanted in whole tiles, 2, value_stride): planes as of values
};

}  // namespace polarquant::cuda
