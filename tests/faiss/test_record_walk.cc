// SPDX-License-Identifier: MIT
// The walk through a graph's records: which nodes it expands, and how many.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "src/core/random.h"
#include "src/faiss/graphs/record_walk.h"
#include "src/scan/search/filter_rules.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

TEST_CASE("Waiting nodes come back the nearest first", "[faiss][graph]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float keys[] = {-infinity, -3e38F, -2.5F, -1e-40F, -0.F, 0.F, 1e-40F, 1.F, 3e38F, infinity};
  using Pair = std::pair<float, int32_t>;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> expected;
  WaitingNodes waiting;
  Random random(1);
  for (int step = 0; step < 20000; ++step) {
    REQUIRE(waiting.empty() == expected.empty());
    // Fewer and fewer come.
    if (expected.empty() || static_cast<int>(random.below(40000)) > step + 10000) {
      const auto id = static_cast<int32_t>(random.below(1 << 30) * 2 + 1);
      const float key = random.below(4) == 0 ? keys[random.below(std::size(keys))]
                                             : static_cast<float>(random.below(1000)) - 500;
      waiting.push({key, id});
      expected.emplace(key, id);
    } else {
      const WaitingNode first = waiting.first();
      const WaitingNode popped = waiting.pop();
      REQUIRE(Pair(first.key(), first.id()) == expected.top());
      REQUIRE(Pair(popped.key(), popped.id()) == expected.top());
      expected.pop();
    }
  }
}

/// Nodes on a line, each linked to those beside it and to the one half as far from the first; the
/// query is one of them, and estimates are scores.
class LineScorer final : public RowScorer {
 public:
  LineScorer(int32_t nodes, int32_t query, float spread)
      : expanded(static_cast<size_t>(nodes)), nodes_(nodes), query_(query), spread_(spread) {}

  void set_query(const float* /*q*/, float /*exactness*/) override {}
  void score(const int32_t* /*rows*/, int /*count*/, float* /*scores*/) override {}
  float exact_score(int64_t row) override { return similarity(static_cast<int32_t>(row)); }
  void score_rows(int64_t /*row*/, const int32_t* /*others*/, int /*count*/,
                  float* /*scores*/) override {}
  void forget_chosen() override {}
  bool is_near_chosen(int32_t /*row*/, float /*key*/) override { return false; }
  void choose() override {}
  float begin_links() override { return spread_; }
  LinkScores score_links(int32_t row) override {
    ++expanded[static_cast<size_t>(row)];
    std::fill_n(links_, kSlots, -1);
    int count = 0;
    for (const int32_t link : {row - 1, row + 1, row / 2})
      if (link >= 0 && link < nodes_) links_[count++] = link;
    for (int i = 0; i < count; ++i) similarities_[i] = similarity(links_[i]);
    return {similarity(row), links_, similarities_, kSlots};
  }

  std::vector<int> expanded;  // how often each was

 private:
  static constexpr int kSlots = 4;

  float similarity(int32_t row) const { return -static_cast<float>(std::abs(row - query_)); }

  int32_t nodes_;
  int32_t query_;
  float spread_;
  int32_t links_[kSlots] = {};
  float similarities_[kSlots] = {};
};

TEST_CASE("A walk expands half to twice ef nodes, or as many as there are", "[faiss][graph]") {
  constexpr int32_t kNodes = 2000;
  constexpr int32_t kQuery = 700;
  RecordWalkMemory memory;
  const auto walk = [&](const RecordGoal& goal, float spread, int32_t nodes, bool in_turn) {
    LineScorer scorer(nodes, kQuery, spread);
    RecordWalk records(scorer, memory);
    records.begin(goal, {100.F, kQuery - 100}, nodes, in_turn);
    while (records.expand()) {
    }
    std::vector<Neighbor> found = records.found();
    std::sort(found.begin(), found.end());
    REQUIRE(std::ssize(found) >= goal.k);
    for (size_t i = 0; i < static_cast<size_t>(goal.k); ++i) {
      const size_t steps = (i + 1) / 2;
      REQUIRE(found[i].key == static_cast<float>(steps));
    }
    int64_t expanded = 0;
    for (const int times : scorer.expanded) {
      REQUIRE(times <= 1);
      expanded += times;
    }
    return expanded;
  };
  for (const bool in_turn : {false, true}) {
    // Some 100 of them lead to the query.
    CHECK(walk({10, 400, true}, 0, kNodes, in_turn) == 200);
    CHECK(walk({10, 400, true}, 1e30F, kNodes, in_turn) == 800);
    CHECK(walk({10, 400, false}, 0, kNodes, in_turn) == 401);
    CHECK(walk({10, 400, false}, 1e30F, kNodes, in_turn) == 401);
    CHECK(walk({10, 1500, true}, 1e30F, kNodes, in_turn) == kNodes);
    const int64_t between = walk({10, 400, true}, 50, kNodes, in_turn);
    CHECK(between > 200);
    CHECK(between < 800);
    CHECK(walk({200, 200, true}, 0, kNodes, in_turn) >= 200);
  }
}

TEST_CASE("A walk through records finds what its filter keeps", "[faiss][graph]") {
  constexpr int32_t kNodes = 2000;
  constexpr int32_t kQuery = 700;
  constexpr int64_t kEvery = 4;
  RecordWalkMemory memory;
  std::vector<int64_t> kept;
  for (int64_t node = 1; node < kNodes; node += kEvery) kept.push_back(node);
  const RowFilter filter = keep_ids(kept);
  const auto walk = [&](float spread) {
    LineScorer scorer(kNodes, kQuery, spread);
    RecordWalk records(scorer, memory);
    records.begin({10, 100, true, &filter, 1.0 / kEvery}, {100.F, kQuery - 100}, kNodes, false);
    while (records.expand()) {
    }
    std::vector<int64_t> found;
    for (const Neighbor& neighbor : records.found()) found.push_back(neighbor.id);
    std::sort(found.begin(), found.end(),
              [&](int64_t a, int64_t b) { return std::abs(a - kQuery) < std::abs(b - kQuery); });
    REQUIRE(found.size() >= 10);
    for (int64_t i = 0; i < 10; ++i) {
      // 701, 697, 705, 693, …
      const int64_t steps = (i + 1) / 2 * kEvery;
      REQUIRE(found[static_cast<size_t>(i)] == kQuery + 1 + (i % 2 == 0 ? steps : -steps));
    }
    return std::count_if(scorer.expanded.begin(), scorer.expanded.end(),
                         [](int times) { return times > 0; });
  };
  // Four times as many as without the filter.
  CHECK(walk(0) == 200);
  CHECK(walk(1e30F) == 800);
}

}  // namespace
}  // namespace polarquant::test
