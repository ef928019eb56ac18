// SPDX-License-Identifier: MIT
// Top-k over rows in the row format, as their owner holds them: by int8 values where the codec
// has them (block_search.h), else by decoding each row (exhaustive_search.h).
#pragma once

#include <cstdint>

#include "src/codec/codec.h"
#include "src/scan/search/block_search.h"

namespace polarquant {

/// As block_search.
void row_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries, int64_t k,
                const RowFilter& filter, const SearchOptions& options, float* scores, int64_t* ids);
/// As block_range_search.
void row_range_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries,
                      float radius, const RowFilter& filter, const SearchOptions& options,
                      RangeFound* found);

}  // namespace polarquant
