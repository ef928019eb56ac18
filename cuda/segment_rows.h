// SPDX-License-Identifier: MIT
// Scores and sums of rows that are decoded 64 coordinates a lane, from words at places that the
// compiler knows: those of one trellis, and pairs of four bits each. Other rows are decoded by
// units of 16 (row_units.cuh).
#pragma once

#include "cuda/row_scores.h"
#include "cuda/row_sums.h"

namespace polarquant::cuda {

/// Whether rows can be decoded so, wherever they lie.
bool have_segments(const RowDescription& rows);
/// And lie so that they can be.
bool have_segments_at(const RowDescription& rows, const uint8_t* codes, uint64_t head_bytes);

void score_segments(const RowDescription& rows, const RowScores& job, int multiprocessors,
                    cudaStream_t stream);

/// As row_sum_parts and sum_rows.
size_t segment_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                         int multiprocessors);
void sum_segments(const RowDescription& rows, const SumJob& job, int multiprocessors,
                  cudaStream_t stream);

}  // namespace polarquant::cuda
