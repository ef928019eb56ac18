// SPDX-License-Identifier: MIT
// Reads a row of a block in plain code: its score terms, its signs' distance, its values. The truth
// that the kernels are tested against.
#pragma once

#include <cstdint>

#include "src/scan/model/scan_query.h"

namespace polarquant {

/// The terms without squared_norm.
ScanTerms load_terms(const ScanCodec& codec, const RowPlace& at);
/// Σ weight over the coordinates of the sketch whose signs differ.
int sketch_distance(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// SignSums' other sum.
int32_t other_sum(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// The values of one stage, (stage.padded_dim()), signs applied, in padded order. Positions without
/// a coordinate have any value, those that belong to no part 0.
void decode_int8(const ScanCodec& codec, const Int8Stage& stage, const RowPlace& at,
                 int8_t* values);
/// Makes values, of `dim` coordinates in padded order, 0 at the positions of the last segment that
/// have no coordinate.
void clear_padding(int8_t* values, int dim);
/// Σ query value·value over the stage.
int32_t int8_dot(const Int8Stage& stage, const ScanQuery& query, const int8_t* values);
/// ScanTerms::squared_norm.
float first_stage_squared_norm(const ScanCodec& codec, const RowPlace& at);

/// By what a search at finite exactness orders rows: the least of score and bounds. With `bounded`
/// false, the score alone.
struct RowScore {
  float score = 0;
  float bound = 0;  // the least of the bounds; +infinity without
  float key = 0;
};
RowScore score_row(const ScanCodec& codec, const ScanQuery& query, bool bounded,
                   const RowPlace& at);

}  // namespace polarquant
