// SPDX-License-Identifier: MIT
// The products of a warp group's 64 rows with a tile of queries: codes in shared memory, decoded by
// every thread for its two rows, segment by segment, straight into the registers of a product.
#pragma once

#include "cuda/matrix_product.cuh"
#include "cuda/shared_decode.cuh"
#include "cuda/tile_plan.h"

namespace polarquant::cuda {

/// What a thread decodes from: its two rows, and tables.
struct ThreadRows {
  RowBytes row[2];
  uint32_t tables;  // this lane's copies
  int index_shift;  // an entry and its copies take 2^index_shift bytes

  __device__ SharedTable table(int number) const {
    return {static_cast<uint32_t>(number) << (8 + index_shift) | tables, 255U << index_shift,
            index_shift};
  }
};

/// The words of one segment of both rows, as two products take them.
__device__ inline void decode_segment(const CodeView& code, const StageView& stage,
                                      const ThreadRows& rows, const SharedRow (&shared)[2],
                                      const SharedTable& table, int segment,
                                      uint32_t (&words)[2][4]) {
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    uint32_t decoded[4];
    decode_shared(code, stage, table, shared[r], rows.row[r], segment, c, decoded);
    words[0][r] = decoded[0];
    words[0][2 + r] = decoded[1];
    words[1][r] = decoded[2];
    words[1][2 + r] = decoded[3];
  }
}

template <int N>
__device__ inline void clear(int32_t (&sums)[N / 8][4]) {
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[j][e] = 0;
  }
}

template <int N>
__device__ inline void multiply_segment(int32_t (&sums)[N / 8][4], const uint32_t (&words)[2][4],
                                        const QueryMatrix<N>& queries, int segment) {
  begin_products();
  multiply<N>(sums, words[0], queries, segment * kChunksPerSegment);
  multiply<N>(sums, words[1], queries, segment * kChunksPerSegment + 2);
  end_products();
}

/// sums = rows times the queries' levels; `decode(segment, words)` decodes a segment.
template <int N, typename Decode>
__device__ inline void sweep(int segments, const Decode& decode, const QueryMatrix<N>& queries,
                             int32_t (&sums)[N / 8][4]) {
  clear<N>(sums);
  uint32_t first[2][4];
  uint32_t second[2][4];
  // While one segment is multiplied the next is decoded. The one behind an odd last segment is
  // multiplied by zeros.
#pragma unroll 1
  for (int segment = 0; segment < segments; segment += 2) {
    decode(segment, first);
    multiply_segment<N>(sums, first, queries, segment);
    wait_products<1>();
    decode(min(segment + 1, segments - 1), second);
    multiply_segment<N>(sums, second, queries, segment + 1);
    wait_products<1>();
  }
  wait_products<0>();
}

/// All products of a stage.
template <int N>
__device__ inline void multiply_stage(const CodeView& code, int s, const ThreadRows& rows,
                                      const int8_t* queries, int32_t (&sums)[N / 8][4]) {
  const StageView& stage = code.stage[s];
  const int c = threadIdx.x % 4;
  const SharedRow shared[2] = {shared_row(code, stage, rows.row[0], c),
                               shared_row(code, stage, rows.row[1], c)};
  const SharedTable table = rows.table(s);
  sweep<N>(
      code.segments,
      [&](int segment, uint32_t(&words)[2][4]) {
        decode_segment(code, stage, rows, shared, table, segment, words);
      },
      QueryMatrix<N>(queries), sums);
}

/// The same for plain codes.
template <int N, int kStep, bool kSigns>
__device__ inline void multiply_plain(const CodeView& code, const ThreadRows& rows, uint32_t mask,
                                      const int8_t* queries, int32_t (&sums)[N / 8][4]) {
  clear<N>(sums);
  const QueryMatrix<N> matrix(queries);
  PlainRows<kStep, kSigns> walk(code, rows.row, rows.tables, mask);
  uint32_t first[2][4];
  uint32_t second[2][4];
  // As sweep; what is behind an odd last segment is read, whatever it is.
#pragma unroll 1
  for (int segment = 0;; segment += 2) {
    walk.decode(first);
    walk.load(1);
    multiply_segment<N>(sums, first, matrix, segment);
    wait_products<1>();
    walk.decode(second);
    const bool is_last = segment + 2 >= code.segments;
    if (!is_last) {
      walk.advance();
      walk.load(0);
    }
    multiply_segment<N>(sums, second, matrix, segment + 1);
    wait_products<1>();
    if (is_last) break;
  }
  wait_products<0>();
}

}  // namespace polarquant::cuda
