// SPDX-License-Identifier: MIT
// The kinds of index that random calls are made on, and what each of them can do. What a kind
// cannot do, it must refuse as unsupported.
#pragma once

#include <cstdint>
#include <span>

namespace polarquant::test {

enum Ability : unsigned {
  kTakesIds = 1 << 0,      // polar_index_add_with_ids
  kRemovesIds = 1 << 1,    // of rows with ids of the caller's
  kRenumbers = 1 << 2,     // removes rows without ids, and closes the gaps
  kUpdates = 1 << 3,       // polar_index_update
  kFindsRanges = 1 << 4,   // polar_index_range_search
  kMerges = 1 << 5,        // polar_index_merge
  kReconstructs = 1 << 6,  // polar_index_reconstruct
  kFindsAll = 1 << 7,      // a search for ntotal rows finds them all
  kFilters = 1 << 8,       // filters of every kind, whatever FAISS's release
  kMaps = 1 << 9,          // its rows stay in a mapped file
  kBuildsOnce = 1 << 10,   // all rows must come in one call, and be many
  kHashesIds = 1 << 11,    // its file's bytes depend on the order of a hash table
  kClips = 1 << 13,        // rows beyond those trained on are cut off
  kUpserts = 1 << 14,      // polar_index_upsert
  kBatchesShow = 1 << 12,  // how rows were batched shows in their last bits, or in a graph
};

struct IndexKind {
  const char* description;
  int32_t dim;
  unsigned abilities;
  double error;  // ‖x̂−x‖²/‖x‖² that a reconstruction may have, for rows of the tests' kind

  bool can(Ability ability) const { return (abilities & ability) != 0; }
};

std::span<const IndexKind> index_kinds();

}  // namespace polarquant::test
