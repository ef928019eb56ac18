// SPDX-License-Identifier: MIT
// The rival: exact inner products of float16 vectors by cuBLAS, with the fastest selection we know
// how to write. Scores of a piece of the rows, small enough for the second-level cache, are
// compared with thresholds as soon as they are there; thresholds come from a sample. That is what
// our own tiles do, but for the scores' way through memory.
#pragma once

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/code_view.h"
#include "cuda/device_buffer.h"

namespace polarquant::bench {

class CublasSearch {
 public:
  CublasSearch(int64_t rows, int dim);
  ~CublasSearch();
  CublasSearch(const CublasSearch&) = delete;
  CublasSearch& operator=(const CublasSearch&) = delete;

  /// Converts rows, which are in host memory.
  void set_rows(int64_t first, int64_t count, const float* x);
  /// From host memory to host memory, (nq, k), in no order but the k best.
  void search(int64_t nq, const float* queries, int64_t k, int64_t* ids);
  /// Queries whose list did not hold all that reached; not 0 would make the answer wrong.
  int64_t overflows() const { return overflows_; }

 private:
  void multiply(int64_t first, int64_t count, int64_t nq);

  int64_t rows_;
  int dim_;
  int64_t overflows_ = 0;
  cublasHandle_t handle_ = nullptr;
  cuda::DeviceBuffer vectors_;  // (rows, dim) float16
  cuda::DeviceBuffer queries_;
  cuda::DeviceBuffer staging_;
  cuda::DeviceBuffer scores_;  // (nq, rows of a piece)
  cuda::DeviceBuffer lists_;
  cuda::DeviceBuffer best_;
};

}  // namespace polarquant::bench
