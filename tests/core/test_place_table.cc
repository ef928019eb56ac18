// SPDX-License-Identifier: MIT
// PlaceTable against std::unordered_map.
#include "src/core/place_table.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "src/core/random.h"

namespace polarquant::test {
namespace {

/// Entries of a table as an owner has them: the id at each place.
struct Owner {
  PlaceTable table;
  std::vector<int64_t> ids;

  auto id_at() const {
    return [this](int64_t place) { return ids[static_cast<size_t>(place)]; };
  }
  int64_t find(int64_t id) const { return table.find(id, id_at()); }
  void add(int64_t id) {
    table.insert(id, std::ssize(ids), id_at());
    ids.push_back(id);
  }
  /// The last entry takes its place.
  void remove(int64_t place) {
    table.erase(ids[static_cast<size_t>(place)], place);
    const int64_t last = std::ssize(ids) - 1;
    if (place != last) table.move(ids.back(), last, place);
    ids[static_cast<size_t>(place)] = ids.back();
    ids.pop_back();
  }
};

TEST_CASE("places are found by id after any changes", "[core][place_table]") {
  // Few different ids, many, and such as differ in their high bits alone.
  for (const uint64_t step : {uint64_t{1}, uint64_t{0x1000000}, uint64_t{1} << 50}) {
    Random random(step);
    Owner owner;
    std::unordered_map<int64_t, int64_t> expected;
    for (int change = 0; change < 40'000; ++change) {
      CAPTURE(step, change);
      const auto id = static_cast<int64_t>(random.below(4000) * step % (uint64_t{1} << 62));
      const bool shrinks = change / 8000 % 2 == 1;
      const auto known = expected.find(id);
      if (known == expected.end()) {
        REQUIRE(owner.find(id) == -1);
        if (shrinks && random.below(8) > 0) continue;
        expected[id] = std::ssize(owner.ids);
        owner.add(id);
      } else {
        REQUIRE(owner.find(id) == known->second);
        if (!shrinks && random.below(4) > 0) continue;
        const int64_t place = known->second;
        expected.erase(known);
        owner.remove(place);
        if (place < std::ssize(owner.ids)) expected[owner.ids[static_cast<size_t>(place)]] = place;
        owner.table.return_spare(owner.id_at());
      }
      REQUIRE(owner.table.size() == std::ssize(expected));
    }
    for (const auto& [id, place] : expected) REQUIRE(owner.find(id) == place);
  }
}

TEST_CASE("an id can have several places", "[core][place_table]") {
  Owner owner;
  for (int i = 0; i < 100; ++i) owner.add(i % 3);
  for (int64_t place = 99; place >= 3; --place) owner.remove(place);
  for (int64_t id = 0; id < 3; ++id) CHECK(owner.find(id) == id);
  owner.remove(0);
  CHECK(owner.find(0) == -1);
  CHECK(owner.find(2) == 0);
}

TEST_CASE("the ends of ids and places are entries like others", "[core][place_table]") {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  PlaceTable table;
  const auto id_at = [](int64_t place) { return place == PlaceTable::kMostPlace ? kLast : 0; };
  CHECK(table.find(0, id_at) == -1);
  CHECK(table.memory_bytes() == 0);
  table.insert(kLast, PlaceTable::kMostPlace, id_at);
  table.insert(0, 0, id_at);
  CHECK(table.find(kLast, id_at) == PlaceTable::kMostPlace);
  CHECK(table.find(0, id_at) == 0);
  table.erase(kLast, PlaceTable::kMostPlace);
  CHECK(table.find(kLast, id_at) == -1);
  table.clear();
  CHECK(table.find(0, id_at) == -1);
  CHECK(table.memory_bytes() == 0);
}

TEST_CASE("an entry takes 9 to 12 bytes, and memory comes back", "[core][place_table]") {
  Owner owner;
  for (int64_t id = 0; id < 100'000; ++id) {
    owner.add(id * id);
    if (id >= 1000) {
      const double bytes =
          static_cast<double>(owner.table.memory_bytes()) / static_cast<double>(id);
      REQUIRE((bytes > 9 && bytes < 12));
    }
  }
  while (owner.ids.size() > 1000) owner.remove(std::ssize(owner.ids) - 1);
  owner.table.return_spare(owner.id_at());
  CHECK(owner.table.memory_bytes() < 10'000);
  for (int64_t id = 0; id < 1000; ++id) REQUIRE(owner.find(id * id) == id);
}

}  // namespace
}  // namespace polarquant::test
