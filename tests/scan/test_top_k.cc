// SPDX-License-Identifier: MIT
// The k best of a stream, and what threads tell each other of theirs.
#include "src/scan/search/top_k.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/random.h"
#include "src/scan/search/thread_limits.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("TopK keeps the best in any order of arrival, lower ids first", "[scan]") {
  Random random(11);
  std::vector<Neighbor> all(500);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = {static_cast<float>(random.below(20)), static_cast<int64_t>(i)};
  }
  std::vector<Neighbor> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (int round = 0; round < 20; ++round) {
    for (size_t i = all.size() - 1; i > 0; --i) std::swap(all[i], all[random.below(i + 1)]);
    TopK best(37);
    for (const Neighbor& neighbor : all) best.push(neighbor);
    std::vector<Neighbor> kept = best.neighbors();
    std::vector<float> scores(40);
    std::vector<int64_t> ids(40);
    write_top_k(kept, 40, false, scores.data(), ids.data());
    for (size_t i = 0; i < 37; ++i) {
      CHECK(ids[i] == sorted[i].id);
      CHECK(scores[i] == sorted[i].key);
    }
    CHECK(ids[37] == -1);
    CHECK(scores[39] == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("A score that is no number is the worst", "[scan]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(key_of_score(nan, true) == std::numeric_limits<float>::infinity());
  CHECK(key_of_score(nan, false) == std::numeric_limits<float>::infinity());
  CHECK(score_of_key(key_of_score(-2.5F, true), true) == -2.5F);
}

TEST_CASE("TopK tells the key of a rank, and whether it changed", "[scan]") {
  TopK best(3);
  std::vector<float> keys;
  CHECK_FALSE(best.take_change());
  CHECK(best.key_of_rank(1, &keys) == kInfinity);
  for (const float key : {5.0F, 1.0F, 4.0F, 3.0F}) best.push({key, 0});
  CHECK(best.take_change());
  CHECK_FALSE(best.take_change());
  CHECK(best.key_of_rank(1, &keys) == 1);
  CHECK(best.key_of_rank(2, &keys) == 3);
  CHECK(best.key_of_rank(3, &keys) == 4);
  best.push({4.5F, 0});
  CHECK_FALSE(best.take_change());
}

TEST_CASE("threads' limits never fall below the k-th best key of all", "[scan]") {
  constexpr int64_t kRows = 4000;
  constexpr int64_t kQueries = 3;
  for (const int threads : {1, 2, 3, 7}) {
    for (const int64_t k : {1, 2, 5, 10, 50, 5000}) {
      // One thread alone may have all that are near.
      for (const bool sorted : {false, true}) {
        CAPTURE(threads, k, sorted);
        Random random(17);
        std::vector<float> keys(kRows * kQueries);
        for (float& key : keys) key = static_cast<float>(random.below(3000));
        std::vector<float> kth(kQueries, kInfinity);
        for (int64_t q = 0; q < kQueries; ++q) {
          const auto first = keys.begin() + q * kRows;
          std::vector<float> in_order(first, first + kRows);
          std::sort(in_order.begin(), in_order.end());
          if (sorted) std::copy(in_order.begin(), in_order.end(), first);
          if (k <= kRows) kth[static_cast<size_t>(q)] = in_order[static_cast<size_t>(k - 1)];
        }
        CommonLimits shared(threads, kQueries, k);
        std::vector<TopK> best(static_cast<size_t>(threads * kQueries), TopK(k));
        parallel_for(threads, threads, [&](int64_t part, int thread) {
          const ThreadLimits limits = {&shared, thread, 1};
          for (int64_t row = part * kRows / threads; row < (part + 1) * kRows / threads; ++row) {
            for (int64_t q = 0; q < kQueries; ++q) {
              TopK& own = best[static_cast<size_t>(thread * kQueries + q)];
              own.push({keys[static_cast<size_t>(q * kRows + row)], row});
              if (row % 50 == 0) limits.from(q).exchange(-1, &own);
            }
          }
        });
        for (int64_t q = 0; q < kQueries; ++q) {
          std::vector<Neighbor> all;
          for (int thread = 0; thread < threads; ++thread) {
            TopK& own = best[static_cast<size_t>(thread * kQueries + q)];
            shared.exchange(thread, q, &own);
            REQUIRE(own.worst_key() >= kth[static_cast<size_t>(q)]);
            all.insert(all.end(), own.neighbors().begin(), own.neighbors().end());
          }
          if (k > kRows) continue;
          keep_best(all, k);
          REQUIRE(static_cast<int64_t>(all.size()) == k);
          REQUIRE(std::max_element(all.begin(), all.end())->key == kth[static_cast<size_t>(q)]);
        }
      }
    }
  }
}

TEST_CASE("two threads' limits meet near the k-th best key of all", "[scan]") {
  constexpr int64_t kK = 10;
  CommonLimits shared(2, 1, kK);
  std::vector<TopK> best(2, TopK(kK));
  for (int row = 0; row < 1000; ++row)
    best[static_cast<size_t>(row % 2)].push({static_cast<float>(row), row});
  for (const int thread : {0, 1, 0}) shared.exchange(thread, 0, &best[static_cast<size_t>(thread)]);
  // Each has five of the ten best, where it would know only of its own ten: 18 and 19.
  CHECK(best[0].worst_key() == 9);
  CHECK(best[1].worst_key() == 9);
}

}  // namespace
}  // namespace polarquant::test
