// SPDX-License-Identifier: MIT
#include "src/device/cuda_parts.h"

#include <algorithm>

#include "src/scan/search/partial_result.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/top_k.h"

namespace polarquant::device {

std::vector<PartRange> split_evenly(int64_t count, int64_t parts, int64_t unit) {
  const int64_t units = div_up(count, unit);
  const int64_t ranges = std::clamp<int64_t>(units, 1, parts);
  std::vector<PartRange> split;
  int64_t first = 0;
  for (int64_t i = 0; i < ranges; ++i) {
    const int64_t own_units = units / ranges + (i < units % ranges ? 1 : 0);
    const int64_t own = std::min(own_units * unit, count - first);
    split.push_back({first, own});
    first += own;
  }
  return split;
}

PartResults::PartResults(int64_t nq, int64_t results, int64_t part_first_row)
    : k(results),
      first_row(part_first_row),
      scores(static_cast<size_t>(nq * results)),
      rows(scores.size()),
      similarity(scores.size()) {}

void merge_parts(std::span<const PartResults> parts, int64_t q, const PartGoal& goal, float* scores,
                 int64_t* rows) {
  std::vector<std::vector<PartialRow>> best(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const PartResults& part = parts[i];
    for (auto at = static_cast<size_t>(q * part.k); at < static_cast<size_t>((q + 1) * part.k);
         ++at) {
      if (part.rows[at] < 0) continue;
      const int64_t row = part.first_row + part.rows[at];
      const float score = key_of_score(part.scores[at], goal.higher_is_nearer);
      best[i].push_back({-part.similarity[at], score, 0, row, row, row});
    }
  }
  merge_partial_rows(best, goal.kept, goal.k, goal.higher_is_nearer, scores, rows);
}

}  // namespace polarquant::device
