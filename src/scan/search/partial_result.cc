// SPDX-License-Identifier: MIT
#include "src/scan/search/partial_result.h"

#include <algorithm>
#include <tuple>

#include "src/scan/search/top_k.h"

namespace polarquant {

void merge_partial_rows(std::span<const std::vector<PartialRow>> parts, int64_t kept, int64_t k,
                        bool higher_is_nearer, float* scores, int64_t* ids) {
  struct Placed {
    size_t part;
    const PartialRow* row;
  };
  std::vector<Placed> best;
  for (size_t part = 0; part < parts.size(); ++part)
    for (const PartialRow& row : parts[part]) best.push_back({part, &row});
  const auto keep = [&best](int64_t count, const auto& is_before) {
    if (std::ssize(best) <= count) return;
    std::nth_element(best.begin(), best.begin() + count, best.end(), is_before);
    best.resize(static_cast<size_t>(count));
  };
  // A list's rows are those of one part after those of another.
  const auto by_key = [](const Placed& placed) {
    return std::make_tuple(placed.row->key, placed.row->list, placed.part, placed.row->row);
  };
  keep(kept, [&](const Placed& a, const Placed& b) { return by_key(a) < by_key(b); });
  std::sort(best.begin(), best.end(), [](const Placed& a, const Placed& b) {
    return std::make_tuple(a.row->score, a.row->order) <
           std::make_tuple(b.row->score, b.row->order);
  });
  if (std::ssize(best) > k) best.resize(static_cast<size_t>(k));
  for (size_t i = 0; i < best.size(); ++i) {
    scores[i] = score_of_key(best[i].row->score, higher_is_nearer);
    ids[i] = best[i].row->id;
  }
  const auto count = std::ssize(best);
  write_no_rows(k - count, higher_is_nearer, scores + count, ids + count);
}

}  // namespace polarquant
