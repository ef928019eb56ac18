// SPDX-License-Identifier: MIT
// The common part of launches in row_scores.cu and row_sums.cu: how blocks are cut, and which
// decoder a row's kind has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda_check.h"
#include "cuda/polar_units.cuh"
#include "cuda/shared_limit.h"

namespace polarquant::cuda {

inline constexpr int kRowThreads = 256;
/// Blocks of a grid for each multiprocessor, about: several times as many as fit, so that none
/// waits long for the last.
inline constexpr int kBlocksPerMultiprocessor = 16;
/// The most shared memory of a block for copies of tables, unless one copy takes more.
inline constexpr size_t kTableCopiesBytes = 32768;

__host__ __device__ inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline size_t table_bytes(int entries, int copies_log2) {
  return (static_cast<size_t>(entries) << copies_log2) * sizeof(float2);
}

template <typename Decoder>
int copies_log2_of(const RowDescription& rows) {
  return Decoder::kCopies ? SharedPoints::copies_log2(rows.entries, kTableCopiesBytes) : 0;
}

/// Calls launch.run<Decoder>() for the rows' kind.
template <typename Launch>
void with_decoder(const RowDescription& rows, const uint8_t* codes, uint64_t head_bytes,
                  const Launch& launch) {
  const bool are_even = (reinterpret_cast<uintptr_t>(codes) | head_bytes | rows.row_bytes) % 2 == 0;
  switch (rows.kind) {
    case RowKind::cells:
      return rows.trellis.step != 0 ? launch.template run<TrellisDecoder>()
                                    : launch.template run<CellDecoder>();
    case RowKind::tree:
      if (!is_paper_tree(rows)) return launch.template run<TreeDecoder>();
      return are_even ? launch.template run<PaperTreeDecoder<true>>()
                      : launch.template run<PaperTreeDecoder<false>>();
    case RowKind::pairs:
      return rows.angle_bits + rows.radius_bits <= 8 ? launch.template run<PairDecoder<true>>()
                                                     : launch.template run<PairDecoder<false>>();
    case RowKind::groups:
      return launch.template run<GroupDecoder>();
  }
}

}  // namespace polarquant::cuda
