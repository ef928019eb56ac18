// SPDX-License-Identifier: MIT
// Reading a row of a block in plain code: its score terms, its signs' distance, its values. The
// truth that the kernels are tested against.
#pragma once

#include <cstdint>

#include "src/scan/model/scan_query.h"

namespace polarquant {

/// All but the squared_norm.
ScanTerms load_terms(const ScanCodec& codec, const RowPlace& at);
/// Σ weight over the coordinates of the sketch whose signs differ.
int sketch_distance(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// SignSums' other sum.
int32_t other_sum(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);
/// The values of one stage, (stage.padded_dim()), signs applied, in lanes order; lanes without a
/// coordinate have any value, those of no part 0.
void decode_int8(const ScanCodec& codec, const Int8Stage& stage, const RowPlace& at,
                 int8_t* values);
/// Σ query value·value over the stage's lanes.
int32_t int8_dot(const Int8Stage& stage, const ScanQuery& query, const int8_t* values);
/// ScanTerms::squared_norm.
float first_stage_squared_norm(const ScanCodec& codec, const RowPlace& at);

/// What a search at finite exactness orders rows by: the least of score and bounds. With `bounded`
/// false, the score alone.
struct RowScore {
  float score = 0;
  float bound = 0;  // the least of the bounds; +infinity without
  float key = 0;
};
RowScore score_row(const ScanCodec& codec, const ScanQuery& query, bool bounded,
                   const RowPlace& at);

}  // namespace polarquant
