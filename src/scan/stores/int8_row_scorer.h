// SPDX-License-Identifier: MIT
// Scores of single rows by their int8 values.
#pragma once

#include <memory>

#include "src/scan/model/scan_codec.h"
#include "src/scan/stores/row_scorer.h"
#include "src/scan/stores/single_rows.h"

namespace polarquant {

/// All are borrowed. scan: of the state that the rows were encoded in.
std::unique_ptr<RowScorer> make_int8_row_scorer(const Codec& codec, const ScanCodec& scan,
                                                const SingleRows& rows);

/// A row's values in padded order, (scan.padded_dim()) on a 64-byte boundary, of a codec of one
/// stage; 0 at positions without a coordinate, where stages have any value.
void decode_padded_row(const ScanCodec& scan, const RowPlace& at, int8_t* values);

}  // namespace polarquant
