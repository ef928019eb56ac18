// SPDX-License-Identifier: MIT
// Rows that go from an id map, and their ids with them.
#pragma once

#include <faiss/IndexIDMap.h>
#include <faiss/impl/IDSelector.h>

#include <cstddef>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// Rows, by their numbers, that a selector names; asked for all of them before any goes.
class SelectedRows final : public ::faiss::IDSelector {
 public:
  template <typename IdOf>
  SelectedRows(const ::faiss::IDSelector& sel, idx_t rows, const IdOf& id_of)
      : selected_(static_cast<size_t>(rows)) {
    for (idx_t row = 0; row < rows; ++row)
      selected_[static_cast<size_t>(row)] = sel.is_member(id_of(row));
  }
  bool is_member(idx_t row) const override { return selected_[static_cast<size_t>(row)]; }

 private:
  std::vector<bool> selected_;
};

/// Removes the rows with the ids that a selector names, and returns how many they were. One row of
/// a graph costs as much as the links near it (graphs/single_removal.h). An error leaves the map as
/// it was.
size_t remove_from_id_map(::faiss::IndexIDMap& map, const ::faiss::IDSelector& sel);

}  // namespace polarquant
