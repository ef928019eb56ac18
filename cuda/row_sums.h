// SPDX-License-Identifier: MIT
// Weighted sums of rows as callers hold them: Σ weight·scale·ŷ of each head for each of its vectors
// of weights.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/row_format.h"

namespace polarquant::cuda {

struct SumJob {
  int64_t heads;
  int64_t nw;  // of a head
  int64_t n;   // rows of a head
  const uint8_t* codes;
  uint64_t head_bytes;   // of a head's codes
  const float* weights;  // (heads, nw, n)
  float* parts;          // row_sum_parts floats of scratch memory
  double* sums;          // (heads, nw, 16·units + 1), the last one Σ weight
};

/// Numbers of a sum, and the sum of weights.
__host__ __device__ inline int64_t row_sum_width(const RowDescription& rows) {
  return int64_t{rows.units} * kUnitValues + 1;
}
size_t row_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                     int multiprocessors);
/// The same sums for the same arguments on devices of one kind: rows are added in one order.
void sum_rows(const RowDescription& rows, const SumJob& job, int multiprocessors,
              cudaStream_t stream);
/// The end of each way to sum: adds a vector's `splits` parts, (heads, nw, splits, width), in
/// order.
void add_sum_parts(const RowDescription& rows, const SumJob& job, int64_t splits,
                   cudaStream_t stream);

}  // namespace polarquant::cuda
