// SPDX-License-Identifier: MIT
// Estimated scores of all neighbours in a node's record, sixteen at a time: a table for each four
// coordinates of the query has what the 16 patterns of their signs add up to, and is looked up for
// all sixteen neighbours at once (as in FastScan, André et al. 2015).
#pragma once

#include <cstdint>

#include "src/scan/model/link_estimate.h"

namespace polarquant {

/// The tables of one query: entry p of table t is kLinkOffset plus Σ ±value over coordinates 8t to
/// 8t+3, or 8t+4 to 8t+7, negative where p has a bit.
struct LinkTables {
  static constexpr int kEntries = 16;
  /// Of four values; entries of two tables together fit a byte.
  static constexpr int kOffset = 4 * kMostLinkValue;

  alignas(64) uint8_t low[kMostLinkSigns / 8 * kEntries];
  alignas(64) uint8_t high[kMostLinkSigns / 8 * kEntries];

  /// Of a query's first values, as round_link_values has them.
  void make(const ScanQuery& query, int signs);
};

/// similarities, (layout.slots()) on a 64-byte boundary: estimate_link of each slot, to the bit.
/// The record begins on a 64-byte boundary.
void estimate_links(const LinkTables& tables, const LinkRecordLayout& layout, const uint8_t* record,
                    const LinkScale& scale, float* similarities);

}  // namespace polarquant
