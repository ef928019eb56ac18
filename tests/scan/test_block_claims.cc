// SPDX-License-Identifier: MIT
#include <atomic>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/block_claims.h"
#include "tests/support/catch.h"

using polarquant::BlockClaims;

TEST_CASE("every block is claimed once, in shares that shrink", "[scan]") {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t blocks : {0, 1, 63, 64, 65, 1000, 5000}) {
      CAPTURE(threads, blocks);
      BlockClaims claims(blocks, threads);
      std::vector<std::atomic<int>> taken(static_cast<size_t>(blocks));
      polarquant::parallel_for(threads, threads, [&](int64_t, int) {
        for (BlockClaims::Range range; (range = claims.take(64, 256)).count > 0;)
          for (int64_t i = 0; i < range.count; ++i) ++taken[static_cast<size_t>(range.first + i)];
      });
      for (const auto& times : taken) REQUIRE(times.load() == 1);
      REQUIRE(claims.take(1, 1).count == 0);
    }
  }
}

TEST_CASE("a claim is a thread's share of what is left, within its bounds", "[scan]") {
  BlockClaims claims(1000, 2);
  std::vector<int64_t> counts;
  for (BlockClaims::Range range; (range = claims.take(64, 256)).count > 0;)
    counts.push_back(range.count);
  CHECK(counts == std::vector<int64_t>{256, 256, 244, 122, 64, 58});
}
