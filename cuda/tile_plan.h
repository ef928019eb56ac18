// SPDX-License-Identifier: MIT
// How a tile scan uses a thread block and its shared memory: kernel and host must agree on this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/code_view.h"
#include "cuda/matrix_product.cuh"
#include "cuda/tile_scan.h"

namespace polarquant::cuda {

/// Tables lie on a boundary of their size in shared memory, so that an entry's address is made of
/// its index and the other parts of its place without an addition.
inline constexpr uint32_t kTableBytes = 256 * 32 * 4;

inline constexpr int kWarpRows = kSampleRows;
inline constexpr int kGroupWarps = kGroupThreads / 32;
inline constexpr int kChunkBytes = 16;
inline constexpr int kChunksPerSegment = kSegmentDims / kChunkBytes;

/// Accumulators take registers, and more warp groups hide more of each one's waiting: a fourth
/// group with 64 queries or more would leave each thread 128 registers, which is slower
/// (docs/dev/tuning.md, "CUDA").
inline constexpr int max_warp_groups(int queries) { return queries >= 64 ? 3 : 4; }

inline constexpr int kMaxWarps = 16;
inline constexpr int kMaxBuffers = 2;  // of a warp

/// For codes that are not plain, which compile to more code and are decoded more slowly anyway.
inline constexpr int kMostQueriesUnlessPlain = 64;

/// Segments are decoded two at a time.
__host__ __device__ constexpr int even(int segments) { return (segments + 1) / 2 * 2; }

/// A warp's rows in shared memory: factors, then sign words, then payloads. A row's cells are read
/// from a few bytes before its payloads to kReadAhead after them: all of that lies in this buffer,
/// while the next rows arrive in another.
struct WarpBuffer {
  uint32_t payloads_bytes;
  uint32_t words_bytes;
  uint32_t factors_bytes;

  __host__ __device__ explicit WarpBuffer(const CodeView& code)
      : payloads_bytes(kWarpRows * code.payload_bytes),
        words_bytes(kWarpRows * 8U * static_cast<uint32_t>(code.sketch_words)),
        factors_bytes(kWarpRows * code.factor_bytes()) {}
  __host__ __device__ uint32_t words_offset() const { return factors_bytes; }
  __host__ __device__ uint32_t payloads_offset() const { return words_offset() + words_bytes; }
  __host__ __device__ uint32_t bytes() const {
    return payloads_offset() + payloads_bytes + static_cast<uint32_t>(kReadAhead);
  }
};

/// A row that reached its query's threshold, which waits to be ranked with others.
struct Match {
  uint32_t row;
  int32_t query;
  int32_t dots[kMaxStages];
};
inline constexpr int kWaitingMatches = 32;  // of a warp

/// A row can reach its query's threshold where scale·x + slope·constant + intercept ≥ 0; x is the
/// dot product, or Σ dot_scale·dot of two stages. The test is a little weaker.
struct ReachTest {
  float slope;
  float intercept;
};

/// The kind of most codes: windows of up to 7 bits a pair, one table, and signs in words or none.
/// Nothing in a segment then depends on the code but numbers.
inline bool is_plain(const CodeView& code) {
  const StageView& stage = code.stage[0];
  return !code.is_trained() && code.stages == 1 && stage.kind == CodeKind::windows &&
         stage.step_bits < 8 && stage.signs != SignPlace::plane;
}

/// A part of a code that has_whole_segments, whose segments lie side by side: what a tile needs of
/// it, the same for all threads.
struct alignas(16) TilePart {
  int32_t first_segment;
  int32_t segments;
  uint32_t codes;       // its first byte in a row's payload
  uint32_t ring_bytes;  // windows
  int32_t step_bits;
  uint32_t table;  // its place
  int32_t index_bits;
  int32_t index_shift;
  int32_t has_signs;
  int32_t has_fields;  // magnitudes
};

/// An entry's index is shifted so far where tables have 32, 8 copies or one.
inline constexpr int kManyCopiesShift = 7;
inline constexpr int kSomeCopiesShift = 5;
inline constexpr int kOneCopyShift = 2;

/// Whether tiles decode a trained code by words: all its segments are whole, and words lie on
/// boundaries of their size.
inline bool has_whole_segments(const CodeView& code) {
  return code.is_trained() && code.coded_dims == code.coded_segments * kSegmentDims &&
         code.payload_bytes % 8 == 0 && code.has_aligned_parts != 0;
}

/// What one accumulator of both stages' products needs of a query; see TileTerms.
struct StageChange {
  int32_t factor;
  int32_t margin;
};

/// Segments of a plain code that are decoded in fours (quad_decode.cuh), the first ones: they are
/// whole, and the ring's end is the end of a word.
inline int quads(const CodeView& code) {
  return code.dim % kSegmentDims == 0 ? code.segments / 4 : 0;
}

}  // namespace polarquant::cuda
