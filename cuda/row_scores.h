// SPDX-License-Identifier: MIT
// Scores of rows as callers hold them: every row of a head with every query of it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/interface.h"

namespace polarquant::cuda {

struct RowScores {
  int64_t heads;
  int64_t nq;  // of a head
  int64_t n;   // rows of a head
  const uint8_t* codes;
  uint64_t head_bytes;      // of a head's codes
  const float* queries;     // (heads, nq, 16·units)
  const QueryTerms* terms;  // (heads, nq)
  float* scores;            // (heads, nq, n)
};

void score_rows(const RowDescription& rows, const RowScores& job, int multiprocessors,
                cudaStream_t stream);

}  // namespace polarquant::cuda
