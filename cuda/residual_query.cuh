// SPDX-License-Identifier: MIT
// A prepared query for the codes of a list: Codec::residual_query, by half a warp.
#pragma once

#include "cuda/half_warp.cuh"
#include "cuda/lists_view.h"

namespace polarquant::cuda {

struct ResidualQuery {
  const float* rotated;  // (dim), before the centre is subtracted
  const float* centre;   // (dim), or null
  float beta;
  float offset;
  float bias_weight;

  __device__ float at(int j) const {
    return centre != nullptr ? rotated[j] - beta * centre[j] : rotated[j];
  }
};

/// All lanes of the half get the same.
__device__ inline ResidualQuery move_query(const CodeView& code, const ListsView& lists,
                                           int64_t list, const float* rotated,
                                           const QueryTerms& terms) {
  if (lists.rotated_centres == nullptr)
    return {rotated, nullptr, 0, terms.offset, terms.bias_weight};
  const float* centre = lists.rotated_centres + list * code.dim;
  float sum = 0;
  for (int j = threadIdx.x % kHalfWarp; j < code.dim; j += kHalfWarp) {
    if (code.is_l2 != 0) {
      const float difference = rotated[j] - centre[j];
      sum += difference * difference;
    } else {
      sum += rotated[j] * centre[j];
    }
  }
  const float offset = half_warp_sum(sum);
  if (code.is_l2 != 0) return {rotated, centre, 1, offset, 1};
  const float norm = lists.centre_norms[list];
  const float bias_weight = norm > 0 ? offset / norm : 0;
  return {rotated, centre, norm > 0 ? bias_weight / norm : 0, offset, bias_weight};
}

}  // namespace polarquant::cuda
