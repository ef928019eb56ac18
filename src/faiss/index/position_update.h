// SPDX-License-Identifier: MIT
// Rows that come in the place of others, by their positions, in an index that scores rows by these:
// flat ones, inverted files inside, graphs, and refinements of these, both of whose parts have the
// new rows or none.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/list_positions.h"

namespace faiss {
struct IndexRefine;
}  // namespace faiss

namespace polarquant {

/// Rows of a flat index or an inverted file, also after transforms. All that may fail is done by
/// the constructor, which changes nothing unless apply follows.
class PositionUpdate {
 public:
  /// positions: each in the index, and once; x: (positions, d), as row_checks.h allows.
  PositionUpdate(::faiss::Index& index, const std::vector<idx_t>& positions, const float* x);
  void apply() noexcept;

 private:
  void prepare(::faiss::Index& index, const float* x);

  const std::vector<idx_t>& positions_;
  ::faiss::Index* changed_ = nullptr;  // inside transforms
  CodedRows coded_;                    // of a flat index
  std::vector<float> rows_;            // where it keeps floats
  std::optional<ListPositionUpdate> lists_;
};

/// Codes x, (n, d), in the place of the rows at these positions, (n); the last of equal ones
/// counts. Throws not_found for a position that is not there, unsupported where rows of a part do
/// not change. An error leaves the refinement as it was.
void update_refinement(::faiss::IndexRefine& index, idx_t n, const idx_t* positions,
                       const float* x);

}  // namespace polarquant
