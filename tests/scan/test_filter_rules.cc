// SPDX-License-Identifier: MIT
// Every kind of filter keeps what a plain function says, asked for ranges and for ids.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/core/random.h"
#include "src/scan/search/filter_rules.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();

struct Kind {
  std::string name;
  RowFilter filter;
  std::function<bool(int64_t)> keeps;
};

void check_masks(const Kind& kind, int64_t first, int64_t count) {
  const auto words = static_cast<size_t>((count + 63) / 64);
  // What is there before counts for nothing, and what lies after is left alone.
  std::vector<uint64_t> masks(words + 1, 0xa5a5a5a5a5a5a5a5);
  kind.filter.masks(first, count, masks.data());
  REQUIRE(masks[words] == 0xa5a5a5a5a5a5a5a5);
  for (int64_t i = 0; i < 64 * static_cast<int64_t>(words); ++i) {
    const bool is_kept = (masks[static_cast<size_t>(i / 64)] >> i % 64 & 1) != 0;
    CAPTURE(kind.name, first, count, i);
    if (is_kept != (i < count && kind.keeps(first + i))) FAIL("a wrong bit");
  }
}

void check_members(const Kind& kind, const std::vector<int64_t>& ids) {
  for (size_t first = 0; first < ids.size(); first += 64) {
    const auto count = static_cast<int>(std::min<size_t>(64, ids.size() - first));
    const uint64_t mask = kind.filter.members(&ids[first], count);
    for (int i = 0; i < 64; ++i) {
      CAPTURE(kind.name, first, i);
      const bool keeps = i < count && kind.keeps(ids[first + static_cast<size_t>(i)]);
      if ((mask >> i & 1) != (keeps ? 1 : 0)) FAIL("a wrong bit");
    }
  }
}

}  // namespace

TEST_CASE("filters keep what they say, however they are asked", "[scan][filter]") {
  Random random(1);
  std::vector<uint8_t> bits(90);
  for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random.below(256));
  const auto has_bit = [&](int64_t num_bits) {
    return [&bits, num_bits](int64_t id) {
      return id >= 0 && id < num_bits && (bits[static_cast<size_t>(id / 8)] >> id % 8 & 1) != 0;
    };
  };
  const std::vector<int64_t> near = {3, 64, 65, 127, 128, 700};
  const std::vector<int64_t> far = {kFirst, -5, 0, 63, int64_t{1} << 40, kLast - 1, kLast};
  const auto is_in = [](const std::vector<int64_t>& ids) {
    return
        [set = std::set<int64_t>(ids.begin(), ids.end())](int64_t id) { return set.contains(id); };
  };
  const auto in_range = [](int64_t first, int64_t end) {
    return [first, end](int64_t id) { return id >= first && (id < end || end == kLast); };
  };
  const auto thirds = [](int64_t id) { return id % 3 == 0; };
  std::vector<Kind> kinds = {
      {"all", {}, [](int64_t) { return true; }},
      {"function", thirds, thirds},
      {"ids", keep_ids(std::span(near)), is_in(near)},
      {"ids far apart", keep_ids(std::span(far)), is_in(far)},
      {"no ids", keep_ids(std::vector<int64_t>()), is_in({})},
      {"ids in any order", keep_ids(std::vector<int64_t>{700, 3, 3, 65, 64, 128, 127, 65}),
       is_in(near)},
  };
  for (const int64_t num_bits : {0, 1, 63, 64, 65, 131, 333, 719, 720})
    kinds.push_back({"bits", keep_bits(bits.data(), num_bits), has_bit(num_bits)});
  for (const int64_t first : {kFirst, int64_t{-3}, int64_t{0}, int64_t{70}, kLast})
    for (const int64_t end : {kFirst, int64_t{0}, int64_t{64}, int64_t{133}, kLast - 1, kLast})
      kinds.push_back({"range", keep_range(first, end), in_range(first, end)});
  const size_t plain = kinds.size();
  for (size_t i = 0; i + 2 < plain; i += 2) {
    const Kind a = kinds[i];
    const Kind b = kinds[i + 2];
    kinds.push_back({"not " + a.name,
                     join({}, a.filter, [](uint64_t, uint64_t mask) { return ~mask; }),
                     [a](int64_t id) { return !a.keeps(id); }});
    kinds.push_back({a.name + " and " + b.name,
                     join(a.filter, b.filter, [](uint64_t x, uint64_t y) { return x & y; }),
                     [a, b](int64_t id) { return a.keeps(id) && b.keeps(id); }});
  }
  std::vector<int64_t> ids = far;
  for (int64_t id = -70; id < 800; id += 1 + random.below(3)) ids.push_back(id);
  for (const Kind& kind : kinds) {
    for (const int64_t first : {0, 1, 7, 64, 100, 128, 640, 719, 5000})
      for (const int64_t count : {1, 5, 63, 64, 65, 128, 300, 4200})
        check_masks(kind, first, count);
    check_masks(kind, kLast - 63, 64);
    check_masks(kind, kLast, 1);
    check_members(kind, ids);
    for (const int64_t id : ids)
      if (kind.filter.keeps(id) != kind.keeps(id)) FAIL(kind.name << " " << id);
    if (const auto listed = kind.filter.listed()) {
      REQUIRE(std::is_sorted(listed->begin(), listed->end()));
      for (const int64_t id : *listed) REQUIRE(kind.keeps(id));
    }
  }
}

TEST_CASE("a filter over ids is one over the rows that have them", "[scan][filter]") {
  constexpr int64_t kRows = 300;
  std::vector<int64_t> ids;
  for (int64_t row = 0; row < kRows; ++row) ids.push_back(7 * (kRows - row) - 20);
  const auto row_of = [&](int64_t id) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    return found == ids.end() ? int64_t{-1} : found - ids.begin();
  };
  // Few are looked up, of which one has no row; many are not.
  const std::vector<int64_t> few = {1, 8, 9, 2080};
  std::vector<int64_t> many;
  for (int64_t id = -20; id < 1500; id += 2) many.push_back(id);
  int looked_up = 0;
  const auto counted = [&](int64_t id) {
    ++looked_up;
    return row_of(id);
  };
  for (const std::vector<int64_t>& listed : {few, many}) {
    const RowFilter filter = keep_ids(std::span(listed));
    const std::vector<Kind> kinds = {{"asked for", rows_of_ids(filter, ids), {}},
                                     {"all", all_rows_of_ids(filter, ids, {}), {}},
                                     {"looked up", all_rows_of_ids(filter, ids, counted), {}}};
    for (Kind kind : kinds) {
      kind.keeps = [&](int64_t row) { return filter.keeps(ids[static_cast<size_t>(row)]); };
      for (const int64_t first : {0, 1, 64, 250}) check_masks(kind, first, kRows - first);
      std::vector<int64_t> rows;
      for (int64_t row = 0; row < kRows; row += 3) rows.push_back(row);
      check_members(kind, rows);
    }
  }
  REQUIRE(looked_up == std::ssize(few));
  REQUIRE(rows_of_ids({}, ids).keeps_all());
  REQUIRE(all_rows_of_ids({}, ids, row_of).keeps_all());
}
