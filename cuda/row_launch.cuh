// SPDX-License-Identifier: MIT
// What launches of row_scores.cu and row_sums.cu share: how blocks are cut, and which decoder a
// row's kind has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda_check.h"
#include "cuda/polar_units.cuh"
#include "cuda/shared_limit.h"

namespace polarquant::cuda {

inline constexpr int kRowThreads = 256;
/// Blocks that a grid has for each multiprocessor, about: several for each that it has room for, so
/// that none waits long for the last.
inline constexpr int kBlocksPerMultiprocessor = 16;
/// What copies of tables may take of a block's shared memory, unless one copy takes more.
inline constexpr size_t kTableCopiesBytes = 32768;

inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline size_t table_bytes(int entries, int copies_log2) {
  return (static_cast<size_t>(entries) << copies_log2) * sizeof(float2);
}

/// launch.run<Decoder>() of the rows' kind.
template <typename Launch>
void with_decoder(const RowDescription& rows, const Launch& launch) {
  switch (rows.kind) {
    case RowKind::cells:
      return launch.template run<CellDecoder>();
    case RowKind::tree:
      return PaperTreeDecoder::is_for(rows) ? launch.template run<PaperTreeDecoder>()
                                            : launch.template run<TreeDecoder>();
    case RowKind::pairs:
      return launch.template run<PairDecoder>();
    case RowKind::groups:
      return launch.template run<GroupDecoder>();
  }
}

}  // namespace polarquant::cuda
