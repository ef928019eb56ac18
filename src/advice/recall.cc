// SPDX-License-Identifier: MIT
#include "src/advice/recall.h"

#include <algorithm>
#include <vector>

namespace polarquant {

int64_t neighbours_found(std::span<const int64_t> got, std::span<const int64_t> wanted) {
  std::vector<int64_t> sorted(got.begin(), got.end());
  std::sort(sorted.begin(), sorted.end());
  return std::count_if(wanted.begin(), wanted.end(), [&](int64_t id) {
    return std::binary_search(sorted.begin(), sorted.end(), id);
  });
}

}  // namespace polarquant
