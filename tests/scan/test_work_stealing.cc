// SPDX-License-Identifier: MIT
#include <atomic>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/work_stealing.h"
#include "tests/support/catch.h"

using polarquant::WorkStealingRanges;

TEST_CASE("every block is claimed once, whoever asks", "[scan]") {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t blocks : {0, 1, 63, 64, 65, 1000, 5000}) {
      CAPTURE(threads, blocks);
      WorkStealingRanges ranges(blocks, threads);
      std::vector<std::atomic<int>> taken(static_cast<size_t>(blocks));
      polarquant::parallel_for(threads, threads, [&](int64_t, int thread) {
        for (WorkStealingRanges::Range range; (range = ranges.take(thread, 64, 256)).count > 0;)
          for (int64_t i = 0; i < range.count; ++i) ++taken[static_cast<size_t>(range.first + i)];
      });
      for (const auto& times : taken) REQUIRE(times.load() == 1);
      for (int thread = 0; thread < threads; ++thread)
        REQUIRE(ranges.take(thread, 1, 1).count == 0);
    }
  }
}

TEST_CASE("a claim is half of the thread's part, then of the end of another's", "[scan]") {
  WorkStealingRanges work(1000, 2);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (WorkStealingRanges::Range range; (range = work.take(1, 64, 200)).count > 0;)
    ranges.emplace_back(range.first, range.count);
  CHECK(ranges == std::vector<std::pair<int64_t, int64_t>>{{500, 200},
                                                           {700, 150},
                                                           {850, 75},
                                                           {925, 64},
                                                           {989, 11},
                                                           {300, 200},
                                                           {150, 150},
                                                           {75, 75},
                                                           {11, 64},
                                                           {0, 11}});
}

TEST_CASE("one thread takes all that it may", "[scan]") {
  WorkStealingRanges ranges(1000, 1);
  CHECK(ranges.take(0, 64, 600).count == 600);
  CHECK(ranges.take(0, 64, 600).count == 400);
}
