// SPDX-License-Identifier: MIT
// Searches of rows in blocks, by int8 values: those of an index. docs/dev/bounds.md explains them.
#pragma once

#include <span>

#include "src/codec/codec.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Searches the rows of `spans`; ids are row positions. The k best rows are those of the largest
/// min(score, bounds), ties to the lower id; score and bounds by int8 values. It returns
/// Codec::score of each, to the bit, in the order of these. Rows within a radius are those whose
/// Codec::score is, except rows that have a bound outside: at finite exactness a few near the
/// radius. The result depends on neither threads nor the machine. Throws bad_argument for a request
/// that is not allowed, and queries that are not finite.
void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  const SearchRequest& request, const SearchResult& result);
/// The same over rows in the row format.
void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes,
                  const SearchRequest& request, const SearchResult& result);

}  // namespace polarquant
