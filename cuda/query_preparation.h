// SPDX-License-Identifier: MIT
// Queries that lie on the device, prepared there: Codec::prepare_query and set_scan_query
// (src/scan/model/scan_query.cc), by their operations in their order.
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"
#include "cuda/device_buffer.h"
#include "cuda/rotation_tables.h"

namespace polarquant::cuda {

/// See QueryDescription.
struct QueryPreparationView {
  RotationView rotation;
  const float* centre;
  double centre_norm;
  int32_t is_cosine;
  int32_t is_l2;
  Int8Description values;
};

/// Queries on their way.
struct RotatedQueries {
  int64_t n;
  const float* given;  // (n, dim)
  int32_t normalizes;
  float* taken;  // (n, dim): what normalizing them gives, or null
  float* rotated;
  QueryTerms* terms;
  uint32_t* refused;  // set to 1 where a query is not to be searched for; it is then 0
  // Of Rotation::basis, as EncodeRows has them.
  int8_t* basis_values;
  float* basis_units;
};

/// What bounds are made for.
struct QueryGoal {
  float exactness;
  bool bounded;
};

class QueryPreparation {
 public:
  /// Copies to the current device what is needed there.
  QueryPreparation(const QueryDescription& given, const CodeView& code);

  size_t memory_bytes() const { return rotation_.bytes() + centre_.bytes(); }
  /// Places of the parts of `queries` that only Rotation::basis needs; nothing for the others.
  void take_scratch(Carver* carver, size_t n, RotatedQueries* queries) const;
  /// Writes rotated queries, and terms.
  void rotate(const RotatedQueries& queries, cudaStream_t stream) const;
  /// Makes constants, (n), and values, (n, padded_dim), arranged (arrange_values), of them. Not for
  /// inverted files.
  void make_values(const CodeView& code, const RotatedQueries& queries, QueryGoal goal,
                   QueryConstants* constants, int8_t* arranged, cudaStream_t stream) const;

 private:
  RotationTables rotation_;
  DeviceBuffer centre_;
  QueryPreparationView view_ = {};
};

}  // namespace polarquant::cuda
