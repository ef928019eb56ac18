// SPDX-License-Identifier: MIT
// Changes of an inverted file inside an id map or a refinement, whose rows are known by their
// positions there: these are its ids, and close up when rows go.
#pragma once

#include <faiss/IndexIVF.h>

#include <cstdint>
#include <span>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/list_rows.h"

namespace polarquant {

/// Takes rows out and numbers the others anew. All that may fail is done by the constructor.
class ListPositionRemoval {
 public:
  /// gone: as for PositionRemoval; borrowed. Throws unsupported where lists cannot change, or ids
  /// are kept that a caller gave.
  ListPositionRemoval(::faiss::IndexIVF& index, const std::vector<uint64_t>& gone);
  void apply() noexcept;

 private:
  idx_t new_number(idx_t position) const noexcept;

  ::faiss::IndexIVF& index_;
  const std::vector<uint64_t>& gone_;
  RowsTakenOut rows_;
  std::vector<idx_t> kept_before_;  // each word of gone_
};

/// Puts new codes, in whatever lists they belong to, in the place of rows. All that may fail is
/// done by the constructor, which is undone unless apply follows.
class ListPositionUpdate {
 public:
  /// positions: each in the index, and once; x: (positions, d).
  ListPositionUpdate(::faiss::IndexIVF& index, std::span<const idx_t> positions, const float* x);
  void apply() noexcept;

 private:
  RowsTakenOut old_rows_;
  ListGrowth growth_;
};

}  // namespace polarquant
