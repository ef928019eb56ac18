// SPDX-License-Identifier: MIT
// Top-k over rows in blocks, by int8 values: the search of an index. docs/dev/bounds.md explains
// it.
#pragma once

#include <cstdint>
#include <span>

#include "src/codec/codec.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/range_found.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/search/search_options.h"

namespace polarquant {

/// The k best rows of `spans` for each of nq queries (nq, dim): scores (nq, k) best first and ids
/// (nq, k), row positions; where there are fewer than k rows, id −1 with score −inf (inner product,
/// cosine) or +inf (L2). The k rows are those of the largest min(score, bounds), ties to the lower
/// id; score and bounds by int8 values. What is returned, and orders them, is Codec::score of
/// each, to the bit. The result depends on neither threads nor the machine. Throws bad_argument for
/// nq < 0, k < 1, exactness below 0 or no number, and queries that are not finite.
void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids);
/// The same over rows in the row format.
void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                  const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids);
/// All rows within a radius of each of nq queries (nq, dim), best first: those whose Codec::score
/// is above `radius` (inner product, cosine) or below it (L2), but for rows of which a bound is
/// not: at finite exactness a few that lie near the radius. Independent of threads and machine, as
/// above. *found is of use only after the call has returned. Throws as block_search, and
/// bad_argument for a radius that is no number.
void block_range_search(const Codec& codec, const ScanCodec& scan_codec,
                        std::span<const BlockRows> spans, int64_t nq, const float* queries,
                        float radius, const RowFilter& filter, const SearchOptions& options,
                        RangeFound* found);
void block_range_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                        const float* queries, float radius, const RowFilter& filter,
                        const SearchOptions& options, RangeFound* found);

}  // namespace polarquant
