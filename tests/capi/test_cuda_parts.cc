// SPDX-License-Identifier: MIT
// How work of several devices is parted and merged.
#include "src/device/cuda_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/core/random.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::device;

namespace {

TEST_CASE("ranges cover all items, in units, and are as equal as can be", "[capi]") {
  const int64_t unit = GENERATE(1, 64);
  for (int64_t count : {1, 2, 5, 63, 64, 65, 127, 128, 129, 640, 1000, 4097}) {
    for (int64_t parts : {1, 2, 3, 7, 8, 64}) {
      CAPTURE(unit, count, parts);
      const std::vector<PartRange> ranges = split_evenly(count, parts, unit);
      const int64_t units = (count + unit - 1) / unit;
      REQUIRE(std::ssize(ranges) == std::min(parts, units));
      int64_t next = 0;
      int64_t least = units;
      int64_t most = 0;
      for (const PartRange& range : ranges) {
        CHECK(range.first == next);
        CHECK(range.first % unit == 0);
        CHECK(range.count > 0);
        next += range.count;
        const int64_t own = (range.count + unit - 1) / unit;
        least = std::min(least, own);
        most = std::max(most, own);
      }
      CHECK(next == count);
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("no items are one empty range", "[capi]") {
  const std::vector<PartRange> ranges = split_evenly(0, 5, 64);
  REQUIRE(ranges.size() == 1);
  CHECK((ranges[0].first == 0 && ranges[0].count == 0));
}

struct Row {
  float similarity;
  float score;
};

/// What a device with rows first … end−1 gives: as merge_parts documents for all of them.
void search_rows(const Row* rows, int64_t first, int64_t end, int64_t kept, int64_t k, bool higher,
                 float* scores, int64_t* found_rows, float* similarity) {
  std::vector<int64_t> order;
  for (int64_t row = first; row < end; ++row) order.push_back(row);
  const auto at = [&](int64_t row) { return rows[row]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return at(a).similarity > at(b).similarity; });
  if (std::ssize(order) > kept) order.resize(static_cast<size_t>(kept));
  std::sort(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return higher ? at(a).score > at(b).score : at(a).score < at(b).score;
  });
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < k; ++i) {
    const bool is_there = i < std::ssize(order);
    const int64_t row = is_there ? order[static_cast<size_t>(i)] : -1;
    scores[i] = is_there ? at(row).score : higher ? -kInfinity : kInfinity;
    found_rows[i] = is_there ? row - first : -1;
    if (similarity != nullptr) similarity[i] = is_there ? at(row).similarity : -kInfinity;
  }
}

TEST_CASE("merged parts are the search of all rows", "[capi]") {
  const bool higher = GENERATE(true, false);
  const int64_t n = GENERATE(1, 64, 200, 1000);
  const int64_t num_parts = GENERATE(1, 2, 3, 7);
  const int64_t k = GENERATE(1, 10, 90, 1024);
  const bool chooses = GENERATE(false, true);
  const int64_t kept = chooses ? k + k / 16 + 1 : k;
  CAPTURE(higher, n, num_parts, k, kept);
  Random random(static_cast<uint64_t>(n * 31 + num_parts));
  constexpr int64_t kQueries = 2;
  std::vector<Row> rows(static_cast<size_t>(n * kQueries));
  for (Row& row : rows) {
    // Few different numbers, so that ties go across parts; both zeros, and infinities.
    row.similarity = static_cast<float>(random.next() % 9) - 4;
    row.score = static_cast<float>(random.next() % 7) - 3;
    if (random.next() % 11 == 0) row.score = -0.0F;
    if (random.next() % 13 == 0) row.similarity = -std::numeric_limits<float>::infinity();
    if (random.next() % 17 == 0)
      row.score =
          higher ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const auto rows_of = [&](int64_t q) { return rows.data() + q * n; };
  std::vector<PartResults> parts;
  for (const PartRange& range : split_evenly(n, num_parts, 64)) {
    PartResults& part = parts.emplace_back(kQueries, std::min(kept, range.count), range.first);
    for (int64_t q = 0; q < kQueries; ++q) {
      const auto at = static_cast<size_t>(q * part.k);
      search_rows(rows_of(q), range.first, range.first + range.count, kept, part.k, higher,
                  &part.scores[at], &part.rows[at], &part.similarity[at]);
    }
  }
  for (int64_t q = 0; q < kQueries; ++q) {
    std::vector<float> expected_scores(static_cast<size_t>(k));
    std::vector<int64_t> expected_rows(static_cast<size_t>(k));
    search_rows(rows_of(q), 0, n, kept, k, higher, expected_scores.data(), expected_rows.data(),
                nullptr);
    std::vector<float> scores(static_cast<size_t>(k), 77.0F);
    std::vector<int64_t> found(static_cast<size_t>(k), 77);
    merge_parts(parts, q, {k, kept, higher}, scores.data(), found.data());
    CHECK(found == expected_rows);
    CHECK(std::equal(scores.begin(), scores.end(), expected_scores.begin(), [](float a, float b) {
      return a == b && std::signbit(a) == std::signbit(b);
    }));
  }
}

}  // namespace
