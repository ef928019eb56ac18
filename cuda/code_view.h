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
  /// (stages, 256): a window's x, −x, y, −y as bytes.
  const uint32_t* tables;
  const float2* cells;  // (stages, 256)

  __host__ __device__ int64_t blocks() const { return (rows + kBlockRows - 1) / kBlockRows; }
  __host__ __device__ uint32_t factor_bytes() const {
    return factor_form == FactorForm::float32 ? 8 : 4;
  }
  __host__ __device__ uint32_t sketch_bytes() const {  // of a block
    return kBlockRows * (8U * static_cast<uint32_t>(sketch_words) + factor_bytes());
  }
  __host__ __device__ int padded_dim() const { return segments * kSegmentDims; }
};

/// Queries of a group. Values lie as matrix products need them (arrange_values in query_values.cu).
struct QueryView {
  int32_t nq;
  const QueryConstants* constants;
  const int8_t* values;  // (nq, padded_dim)
  const float* rotated;  // (nq, dim)
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
