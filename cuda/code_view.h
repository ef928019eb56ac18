// SPDX-License-Identifier: MIT
// An index, and the queries of a search, as kernels see them: pointers and sizes, passed by value.
#pragma once

#include <cstdint>

#include "cuda/interface.h"

namespace polarquant::cuda {

/// Pairs that one thread decodes at a time. A segment has four such groups8.
inline constexpr int kGroupPairs = 8;
inline constexpr int kGroupsPerSegment = 4;
/// How far kernels read beyond a row.
inline constexpr size_t kReadAhead = 64;

/// Where one stage's codes lie; see StageDescription.
struct StageView {
  CodeKind kind;
  SignPlace signs;
  int32_t step_bits;
  uint32_t signs_offset;
  uint32_t codes_offset;
};

/// A trained code's part: its table, and how often that is looked up.
struct PartView {
  int32_t first_segment;
  int32_t segments;
  int32_t index_bits;
  int32_t lookups;  // of a thread for a row, in eights
};

/// A segment of a trained code.
struct SegmentView {
  StageView stage;  // codes_offset: of the ring, or of the segment's own fields
  int32_t group8;   // windows: its first one in the ring
  int32_t pairs;    // windows: of the ring
  int32_t count;    // coordinates that have bits; 0: none
  int32_t table;    // which table, of 256 entries
  float scale;
};

struct CodeView {
  const uint8_t* sketches;  // 64 rows' sign words by groups of 8 rows, then their factors
  const uint8_t* payloads;
  int64_t rows;
  int32_t dim;
  int32_t segments;
  int32_t pairs;
  int32_t sign_words;
  int32_t sketch_words;
  uint32_t payload_bytes;
  FactorForm factor_form;
  float scale_unit;
  float bias_unit;
  int32_t is_l2;
  int32_t stages;
  float residual_gain;
  float largest_constant;  // of |ScanTerms::constant| over the rows
  StageView stage[kMaxStages];
  /// (tables, 256): a window's x, −x, y, −y as bytes. A stage has one, or a part of a trained code.
  const uint32_t* tables;
  const float2* cells;  // (tables, 256)
  int32_t table_count;
  // For trained codes, else null or 0; see PlanDescription.
  const SegmentView* plan;  // (segments)
  int32_t coded_segments;
  int32_t coded_dims;
  int32_t has_aligned_parts;  // codes of each begin on a boundary of four bytes
  int32_t second_stage;
  int32_t first_stage_words;
  int32_t has_third_bit;
  PartView part[kMaxParts];
  /// The largest Σ value² of a row's first and second stage.
  float largest_squared_norm[kMaxStages];

  __host__ __device__ int64_t blocks() const { return (rows + kBlockRows - 1) / kBlockRows; }
  __host__ __device__ uint32_t factor_bytes() const {
    return factor_form == FactorForm::float32 ? 8 : 4;
  }
  __host__ __device__ uint32_t sketch_bytes() const {  // of a block
    return kBlockRows * (8U * static_cast<uint32_t>(sketch_words) + factor_bytes());
  }
  __host__ __device__ int padded_dim() const { return segments * kSegmentDims; }
  __host__ __device__ bool is_trained() const { return plan != nullptr; }
  __host__ __device__ int stage_of(int segment) const {
    return second_stage > 0 && segment >= second_stage ? 1 : 0;
  }
};

/// What a tile scan of a trained code ranks by: unit·(factor·Σ₀ + Σ₁), sums of the first and the
/// second stage's products with a query's tile values, which is off by `margin` units at most.
struct TileTerms {
  int32_t factor;
  int32_t margin;
  float unit;
};

/// Queries of a group. Values lie as matrix products need them (arrange_values in query_values.cu).
struct QueryView {
  int32_t nq;
  const QueryConstants* constants;
  const int8_t* values;  // (nq, padded_dim)
  const float* rotated;  // (nq, dim)
  // For trained codes, else null.
  const int8_t* tile_values;    // as values
  const TileTerms* tile_terms;  // (nq)
};

/// Which rows take part.
struct RowMask {
  const uint64_t* allowed;  // a word for each block, or null
  int64_t rows;

  __device__ bool keeps(int64_t row) const {
    return row < rows &&
           (allowed == nullptr || (allowed[row / kBlockRows] >> (row % kBlockRows) & 1) != 0);
  }
};

/// A row with its similarity in one number: larger numbers are better, the lower row where
/// similarity is equal. 0 is no row.
using Ranked = unsigned long long;

/// Lists of ranked rows, one for each query: `capacity` entries each; a larger count says that some
/// did not fit.
struct RankedLists {
  Ranked* entries;
  uint32_t* counts;  // (nq)
  uint32_t capacity;
};

}  // namespace polarquant::cuda
