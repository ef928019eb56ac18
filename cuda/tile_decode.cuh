// SPDX-License-Identifier: MIT
// Products of a warp group's 64 rows with a tile of queries: codes are in shared memory, and every
// thread decodes its two rows, segment by segment, straight into the registers of a product.
#pragma once

#include "cuda/matrix_product.cuh"
#include "cuda/quad_decode.cuh"
#include "cuda/shared_decode.cuh"
#include "cuda/tile_plan.h"
#include "cuda/trained_rows.cuh"

namespace polarquant::cuda {

/// The inputs of a thread: its two rows, and tables.
struct ThreadRows {
  RowBytes row[2];
  uint32_t tables;  // this lane's copies
  int index_shift;  // an entry and its copies take 2^index_shift bytes

  __device__ SharedTable table(int number) const {
    return {static_cast<uint32_t>(number) << (8 + index_shift) | tables, 255U << index_shift,
            index_shift};
  }
};

/// The words of one segment of both rows, in the order of two products.
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

/// The first segment's products are the sums, others' are added.
template <int N>
__device__ inline void multiply_segment(int32_t (&sums)[N / 8][4], uint32_t (&words)[2][4],
                                        const QueryMatrix<N>& queries, int segment) {
  // All words are ready before the products begin. Otherwise a compiler begins the products anew
  // for each word, or, where it does not see that a warp's threads are together, runs them one by
  // one.
#pragma unroll
  for (int i = 0; i < 2; ++i)
    asm volatile("" : "+r"(words[i][0]), "+r"(words[i][1]), "+r"(words[i][2]), "+r"(words[i][3]));
  begin_products();
  multiply<N>(sums, words[0], queries, segment * kChunksPerSegment, segment != 0);
  multiply<N>(sums, words[1], queries, segment * kChunksPerSegment + 2, true);
  end_products();
}

/// sums = rows times the queries' values; `decode(segment, words)` decodes a segment.
template <int N, typename Decode>
__device__ inline void sweep(int segments, const Decode& decode, const QueryMatrix<N>& queries,
                             int32_t (&sums)[N / 8][4]) {
  uint32_t first[2][4];
  uint32_t second[2][4];
  // While one segment is multiplied the next is decoded. The one after an odd last segment is
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

/// The same for plain codes, whose first segments are decoded in `quads` fours. `done` is called
/// when the rows' codes have been read.
template <int N, int kStep, bool kSigns, typename Done>
__device__ inline void multiply_plain(const CodeView& code, int quads, const ThreadRows& rows,
                                      uint32_t mask, const int8_t* queries,
                                      int32_t (&sums)[N / 8][4], const Done& done) {
  const QueryMatrix<N> matrix(queries);
  uint32_t first[2][4];
  uint32_t second[2][4];
  const int quad_segments = quads * kQuadSegments;
  if (quads > 0) {
    QuadRows<kStep, kSigns> walk(code, rows.row, rows.tables, mask);
#pragma unroll 1
    for (int segment = 0;;) {
      walk.template decode<0>(first);
      multiply_segment<N>(sums, first, matrix, segment);
      wait_products<1>();
      walk.template decode<1>(second);
      const bool is_last = segment + kQuadSegments == quad_segments;
      // All loads have been used, and so have arrived.
      if (is_last && quad_segments == code.segments) done();
      multiply_segment<N>(sums, second, matrix, segment + 1);
      wait_products<1>();
      walk.template decode<2>(first);
      multiply_segment<N>(sums, first, matrix, segment + 2);
      wait_products<1>();
      walk.template decode<3>(second);
      if (!is_last) walk.advance();
      multiply_segment<N>(sums, second, matrix, segment + 3);
      wait_products<1>();
      segment += kQuadSegments;
      if (is_last) break;
    }
  }
  if (quad_segments < code.segments) {
    PlainRows<kStep, kSigns> walk(code, rows.row, rows.tables, mask, quad_segments);
    // Like sweep; the bytes after an odd last segment are read, whatever they are.
#pragma unroll 1
    for (int segment = quad_segments;; segment += 2) {
      walk.decode(first);
      walk.load(1);
      multiply_segment<N>(sums, first, matrix, segment);
      wait_products<1>();
      walk.decode(second);
      const bool is_last = segment + 2 >= code.segments;
      if (!is_last) {
        walk.advance();
        walk.load(0);
      } else {
        done();
      }
      multiply_segment<N>(sums, second, matrix, segment + 1);
      wait_products<1>();
      if (is_last) break;
    }
  }
  wait_products<0>();
}

/// What one accumulator of both stages' products takes of a tile's queries, where the second stage
/// begins.
template <int N>
__device__ inline void change_stage(const StageChange* changes, int32_t (&sums)[N / 8][4]) {
  wait_products<0>();
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
    const int4 two = *reinterpret_cast<const int4*>(changes + 8 * j + column);
    sums[j][0] = sums[j][0] * two.x + two.y;
    sums[j][1] = sums[j][1] * two.z + two.w;
    sums[j][2] = sums[j][2] * two.x + two.y;
    sums[j][3] = sums[j][3] * two.z + two.w;
  }
}

/// Products of a part of a trained code.
template <int N>
class PartProducts {
 public:
  __device__ PartProducts(TrainedRows& rows, const QueryMatrix<N>& matrix,
                          int32_t (&sums)[N / 8][4])
      : rows_(rows), matrix_(matrix), sums_(sums) {}

  // All is inlined: products do not run beside calls of functions.
  __device__ __forceinline__ void multiply(const TilePart& part) {
    if (part.has_fields != 0) {
      rows_.begin_magnitudes(part);
      return sweep<kMagnitudes, 0>(part);
    }
    switch (part.step_bits) {
      case 1:
        return multiply_windows<1>(part);
      case 2:
        return multiply_windows<2>(part);
      case 3:
        return multiply_windows<3>(part);
      case 4:
        return multiply_windows<4>(part);
      case 5:
        return multiply_windows<5>(part);
      case 6:
        return multiply_windows<6>(part);
      case 7:
        return multiply_windows<7>(part);
      default:
        return multiply_windows<8>(part);
    }
  }

 private:
  static constexpr int kMagnitudes = 0;

  template <int kStep>
  __device__ __forceinline__ void multiply_windows(const TilePart& part) {
    rows_.template begin_windows<kStep>(part);
    if (part.index_shift == kManyCopiesShift) {
      sweep<kStep, kManyCopiesShift>(part);
    } else if (part.index_shift == kSomeCopiesShift) {
      sweep<kStep, kSomeCopiesShift>(part);
    } else {
      sweep<kStep, kOneCopyShift>(part);
    }
  }
  /// While one segment is multiplied the next is looked up.
  template <int kStep, int kShift>
  __device__ __forceinline__ void sweep(const TilePart& part) {
    const int end = part.first_segment + part.segments;
#pragma unroll 1
    for (int segment = part.first_segment;; ++segment) {
      const bool ends = segment + 1 == end;
      if constexpr (kStep == kMagnitudes) {
        rows_.look_up_magnitudes(part, ends);
      } else {
        rows_.template look_up_windows<kStep, kShift>(ends);
      }
      wait_products<0>();
      uint32_t words[2][4];
      rows_.put_words(words);
      multiply_segment<N>(sums_, words, matrix_, segment);
      if (ends) break;
    }
  }

  TrainedRows& rows_;
  const QueryMatrix<N>& matrix_;
  int32_t (&sums_)[N / 8][4];
};

/// All products of a trained code, in units of its tile terms; `changes`: those of the tile's
/// queries. `done` as for multiply_plain.
template <int N, typename Done>
__device__ inline void multiply_trained(const CodeView& code, TrainedRows& rows,
                                        const TilePart* parts, const StageChange* changes,
                                        const int8_t* queries, int32_t (&sums)[N / 8][4],
                                        const Done& done) {
  const QueryMatrix<N> matrix(queries);
  PartProducts<N> products(rows, matrix, sums);
#pragma unroll 1
  for (int p = 0; p < code.table_count; ++p) {
    const TilePart part = parts[p];
    if (p > 0 && part.first_segment == code.second_stage) change_stage<N>(changes, sums);
    products.multiply(part);
  }
  done();
  wait_products<0>();
}

/// The same for any trained code.
template <int N>
__device__ inline void multiply_any_trained(const CodeView& code, AnyTrainedRows& rows,
                                            const StageChange* changes, const int8_t* queries,
                                            int32_t (&sums)[N / 8][4]) {
  const QueryMatrix<N> matrix(queries);
#pragma unroll 1
  for (int segment = 0; segment < code.coded_segments; ++segment) {
    if (segment > 0 && segment == code.second_stage) change_stage<N>(changes, sums);
    uint32_t words[2][4];
    rows.put_words(words);
    multiply_segment<N>(sums, words, matrix, segment);
    wait_products<0>();
  }
}

}  // namespace polarquant::cuda
