// SPDX-License-Identifier: MIT
// How the work of several devices is split, and its results merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polarquant::device {

struct PartRange {
  int64_t first = 0;
  int64_t count = 0;
};

/// Splits `count` ≥ 0 items, in order, into at most `parts` ≥ 1 ranges that begin at multiples of
/// `unit` ≥ 1 and are then as equal as they can be, longer ones first. Only the single range of no
/// items is empty.
std::vector<PartRange> split_evenly(int64_t count, int64_t parts, int64_t unit);

/// The best rows of a part of all rows, as its device returns them: (nq, k) each, row −1: none.
struct PartResults {
  PartResults(int64_t nq, int64_t results, int64_t part_first_row);

  int64_t k;
  int64_t first_row;  // the part's first among all rows; `rows` are counted from it
  std::vector<float> scores;
  std::vector<int64_t> rows;
  std::vector<float> similarity;  // what rows are chosen by, larger is better
};

/// What parts are searched for.
struct PartGoal {
  int64_t k;
  int64_t kept;  // k, and all that are kept are then returned, or more
  bool higher_is_nearer;
};
/// Merges to what one device with all rows returns for query q: of the `kept` rows of the largest
/// similarity the k best by score, ties to the lower row, into scores and rows, (k). Every part has
/// min(kept, its rows) results.
void merge_parts(std::span<const PartResults> parts, int64_t q, const PartGoal& goal, float* scores,
                 int64_t* rows);

}  // namespace polarquant::device
