// SPDX-License-Identifier: MIT
// Removal of rows by their positions, from an index that keeps the others in their order: flat
// ones, inverted files inside others, graphs over flat ones, and refinements of all these, whose
// parts lose the same rows or none.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/hnsw_removal.h"
#include "src/faiss/graphs/nsg_changes.h"
#include "src/faiss/graphs/record_upkeep.h"
#include "src/faiss/index/list_positions.h"

namespace polarquant {

class PositionRemoval {
 public:
  /// gone: bit row % 64 of word row / 64, (⌈ntotal / 64⌉), 0 from ntotal on; borrowed, as the index
  /// is. Throws unsupported where rows of the index, or of a part of it, cannot go. All that may
  /// fail is done here, and nothing has changed yet.
  PositionRemoval(::faiss::Index& index, const std::vector<uint64_t>& gone);
  void apply() noexcept;

 private:
  ::faiss::Index& index_;
  const std::vector<uint64_t>& gone_;
  bool any_goes_;
  std::unique_ptr<HnswRemoval> links_;          // of a graph
  std::unique_ptr<RecordUpkeep> records_;       // of a graph of ours
  std::unique_ptr<NsgRemoval> nsg_;             // of one of the other kind
  std::unique_ptr<ListPositionRemoval> lists_;  // of an inverted file
  std::vector<PositionRemoval> parts_;
};

/// Removes the rows that a selector names; how many they were. An error leaves the index as it was.
size_t remove_selected_positions(::faiss::Index& index, const ::faiss::IDSelector& sel);

}  // namespace polarquant
