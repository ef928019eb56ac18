// SPDX-License-Identifier: MIT
// Scores and sums of rows of one trellis whose segments are all whole: a lane decodes 64
// coordinates from words of 32 bits, at places that the compiler knows. Other rows are decoded by
// units of 16 (row_units.cuh).
#pragma once

#include "cuda/row_scores.h"
#include "cuda/row_sums.h"

namespace polarquant::cuda {

/// Whether rows are such ones, wherever they lie, and a warp has a lane for each segment.
inline bool has_whole_segments(const RowDescription& rows) {
  constexpr int kSegmentDims = 64;
  constexpr int kMostSegments = 32;
  return rows.kind == RowKind::cells && rows.trellis.step != 0 && rows.dim % kSegmentDims == 0 &&
         rows.dim / kSegmentDims <= kMostSegments;
}
/// Whether codes can be read by words, and copied 16 bytes at a time.
inline bool lie_on_words(const RowDescription& rows, const uint8_t* codes, uint64_t head_bytes) {
  return reinterpret_cast<uintptr_t>(codes) % 16 == 0 && (head_bytes | rows.row_bytes) % 4 == 0;
}

void score_trellis_rows(const RowDescription& rows, const RowScores& job, int multiprocessors,
                        cudaStream_t stream);

/// As row_sum_parts and sum_rows.
size_t trellis_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                         int multiprocessors);
void sum_trellis_rows(const RowDescription& rows, const SumJob& job, int multiprocessors,
                      cudaStream_t stream);

}  // namespace polarquant::cuda
