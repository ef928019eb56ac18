// SPDX-License-Identifier: MIT
// Top-k over every row of a code buffer: of any codec, and exact.
#pragma once

#include <cstdint>

#include "src/codec/codec.h"
#include "src/scan/search/range_found.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/search/search_options.h"

namespace polarquant {

/// The k best rows of `codes` for each of nq queries (nq, dim): scores (nq, k) best first and ids
/// (nq, k), row positions; where there are fewer than k rows, id −1 with score −inf (inner product,
/// cosine) or +inf (L2). Ties: lower id first. The result does not depend on options.threads;
/// options.exactness is not read: every search is exact. Scores are to the bit those of
/// Codec::score. Throws bad_argument for nq < 0, k < 1 and queries that are not finite.
void exhaustive_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries,
                       int64_t k, const RowFilter& filter, const SearchOptions& options,
                       float* scores, int64_t* ids);

/// All rows within a radius of each of nq queries (nq, dim), best first: those whose Codec::score
/// is above `radius` (inner product, cosine) or below it (L2). Throws as above, and bad_argument
/// for a radius that is no number.
void exhaustive_range_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries,
                             float radius, const RowFilter& filter, const SearchOptions& options,
                             RangeFound* found);

}  // namespace polarquant
