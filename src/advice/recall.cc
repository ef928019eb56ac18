// SPDX-License-Identifier: MIT
#include "src/advice/recall.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace polarquant {

int64_t neighbours_found(std::span<const int64_t> got, std::span<const int64_t> wanted,
                         const RowCost& cost) {
  std::vector<int64_t> rows(got.begin(), got.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<int64_t> sorted(wanted.begin(), wanted.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> others;
  std::set_difference(rows.begin(), rows.end(), sorted.begin(), sorted.end(),
                      std::back_inserter(others));
  const auto found = static_cast<int64_t>(rows.size() - others.size());
  if (!cost || others.empty() || wanted.empty()) return found;
  const double farthest = cost(wanted.back());
  const auto as_near = std::count_if(
      others.begin(), others.end(), [&](int64_t row) { return row >= 0 && cost(row) <= farthest; });
  return std::min(found + as_near, static_cast<int64_t>(wanted.size()));
}

}  // namespace polarquant
