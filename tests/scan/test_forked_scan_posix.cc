// SPDX-License-Identifier: MIT
// A child of fork() scans, though none of its parent's threads are there.
#include <vector>

#include "tests/scan/plain_search.h"
#include "tests/support/forked_child.h"

namespace polarquant::test {

TEST_CASE("a forked child searches blocks after its parent did on threads", "[scan][search]") {
  const ScanRows rows = made_up_rows("Polar2", 96, Metric::inner_product, 5000);
  const std::vector<float> queries = normal_numbers(40 * 96, 4);
  for (const float exactness : {kDefaultExactness, kScoreEveryRow}) {
    const Found expected = search_blocks(rows, queries, 10, search_with(exactness, 4));
    const ChildEnd end = run_in_child(
        [&] { return search_blocks(rows, queries, 10, search_with(exactness, 4)) == expected; });
    CHECK((end == ChildEnd::right));
  }
}

}  // namespace polarquant::test
