// SPDX-License-Identifier: MIT
// Searches of parts of an index's rows, in several places, from which the answer of one index with
// all rows is made, to the bit. Which rows are the k best is decided by keys, of which a result no
// longer has any sign: a part names them for as many rows as the whole's search keeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace polarquant {

/// A row that is among the best of its part.
struct PartialRow {
  float key = 0;    // by which rows are kept, less is better
  float score = 0;  // as key_of_score
  /// Rows of equal keys are ordered by these; parts have them in the whole's order, list by list.
  int64_t list = 0;   // of an inverted file, else 0
  int64_t row = 0;    // of the list, or of the part
  int64_t order = 0;  // of equal scores, in the whole
  int64_t id = 0;
};

/// The best rows of a part, for each query.
struct PartialResult {
  /// As the whole's search keeps, of which the k best are chosen by score where it is more than k.
  int64_t kept = 0;
  std::vector<std::vector<PartialRow>> queries = {};  // (nq), up to `kept` each, in no order
};

/// The k best of all parts, which follow one another in the whole, for one query: scores, best
/// first, and ids, (k), as SearchResult.
void merge_partial_rows(std::span<const std::vector<PartialRow>> parts, int64_t kept, int64_t k,
                        bool higher_is_nearer, float* scores, int64_t* ids);

}  // namespace polarquant
