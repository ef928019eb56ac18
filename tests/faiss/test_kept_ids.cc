// SPDX-License-Identifier: MIT
// The way from ids to rows that an inverted file of ours keeps, against FAISS's direct map that is
// a hash table.
#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/random.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 32;
constexpr int64_t kRows = 1500;
constexpr auto kHashtable = ::faiss::DirectMap::Hashtable;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const float* row(int64_t i) { return rows().data() + i % kRows * kDim; }

std::unique_ptr<::faiss::Index> trained() {
  auto index = polarquant::index_factory(kDim, "IVF12,Polar4", ::faiss::METRIC_L2);
  index->train(kRows, rows().data());
  return index;
}
IndexIVFPolar& lists_of(::faiss::Index& index) { return dynamic_cast<IndexIVFPolar&>(index); }

std::vector<idx_t> ids_from(idx_t first, idx_t count, idx_t step) {
  std::vector<idx_t> ids(static_cast<size_t>(count));
  for (idx_t i = 0; i < count; ++i) ids[static_cast<size_t>(i)] = first + i * step;
  return ids;
}

size_t remove(::faiss::Index& index, const std::vector<idx_t>& ids) {
  return index.remove_ids(::faiss::IDSelectorArray(ids.size(), ids.data()));
}

/// One index that keeps ids and one with FAISS's map, changed alike.
struct Pair {
  std::unique_ptr<::faiss::Index> kept = trained();
  std::unique_ptr<::faiss::Index> mapped = trained();

  Pair() {
    lists_of(*kept).keep_ids();
    lists_of(*mapped).set_direct_map_type(kHashtable);
  }
  template <typename Change>
  void change(const Change& change) {
    change(lists_of(*kept));
    change(lists_of(*mapped));
  }
  void require_same() const {
    REQUIRE(lists_of(*kept).keeps_ids());
    REQUIRE(lists_of(*kept).direct_map.no());
    REQUIRE((written(*kept) == written(*mapped)));
    for (const auto& [id, place] : lists_of(*mapped).direct_map.hashtable) {
      REQUIRE(lists_of(*kept).has_id(id));
      std::vector<float> x(kDim);
      std::vector<float> expected(kDim);
      kept->reconstruct(id, x.data());
      mapped->reconstruct(id, expected.data());
      REQUIRE(x == expected);
    }
  }
};

}  // namespace

TEST_CASE("Kept ids go with every change as FAISS's map does", "[faiss][ivf]") {
  Pair pair;
  const std::vector<idx_t> ids = ids_from(5, 1000, 3);
  pair.change([&](IndexIVFPolar& index) { index.add_with_ids(1000, row(0), ids.data()); });
  pair.require_same();
  Random random(3);
  std::vector<idx_t> held = ids;
  for (int round = 0; round < 60; ++round) {
    std::vector<idx_t> some;
    for (int i = 0; i < 1 + round % 7; ++i)
      some.push_back(held[static_cast<size_t>(random.below(std::ssize(held)))]);
    const float* x = row(random.below(kRows - 10));
    const auto n = static_cast<idx_t>(some.size());
    switch (round % 4) {
      case 0:
        some.back() = 10'000 + round;
        some.push_back(some.front());  // the last of equal ids counts
        held.push_back(10'000 + round);
        pair.change([&](IndexIVFPolar& index) { index.upsert_vectors(n + 1, some.data(), x); });
        break;
      case 1:
        pair.change([&](IndexIVFPolar& index) {
          index.update_vectors(static_cast<int>(n), some.data(), x);
        });
        break;
      case 2:
        some.push_back(999'999);  // is not there
        pair.change([&](IndexIVFPolar& index) { remove(index, some); });
        std::erase_if(held, [&](idx_t id) { return std::count(some.begin(), some.end(), id) > 0; });
        break;
      default:
        pair.change([&](IndexIVFPolar& index) {
          index.remove_ids(::faiss::IDSelectorRange(some[0], some[0] + 30));
        });
        std::erase_if(held, [&](idx_t id) { return id >= some[0] && id < some[0] + 30; });
    }
  }
  CHECK(pair.kept->ntotal == std::ssize(held));
  pair.require_same();
  std::vector<float> x(kDim);
  require_faiss_error("id 999999 is not", [&] { pair.kept->reconstruct(999'999, x.data()); });
  require_faiss_error("id 999999 is not", [&] {
    const idx_t id = 999'999;
    lists_of(*pair.kept).update_vectors(1, &id, row(0));
  });

  Pair other;
  const std::vector<idx_t> others = ids_from(100'000, 200, 1);
  other.change([&](IndexIVFPolar& index) { index.add_with_ids(200, row(700), others.data()); });
  lists_of(*pair.kept).merge_from(*other.kept, 1000);
  CHECK(lists_of(*pair.kept).has_id(101'000));
  CHECK((other.kept->ntotal == 0 && !lists_of(*other.kept).has_id(100'000)));
  // One without rows takes the way of the other; and so does a clone.
  auto empty = trained();
  lists_of(*empty).merge_from(*pair.kept, 0);
  CHECK((lists_of(*empty).keeps_ids() && lists_of(*empty).has_id(101'199)));
  const auto clone = polarquant::clone_index(*empty);
  CHECK((lists_of(*clone).keeps_ids() && lists_of(*clone).has_id(101'199)));
  empty->reset();
  CHECK(!lists_of(*empty).has_id(101'199));
  empty->add_with_ids(200, row(0), others.data());
  CHECK(remove(*empty, {100'001, 100'002, 100'001}) == 2);
}

TEST_CASE("Where ids are kept each row has one of its own", "[faiss][ivf]") {
  auto index = trained();
  const std::vector<idx_t> ids = ids_from(0, 400, 2);
  index->add_with_ids(400, row(0), ids.data());
  IndexIVFPolar& lists = lists_of(*index);
  lists.keep_ids();
  const std::vector<uint8_t> before = written(*index);
  for (const std::vector<idx_t>& bad :
       {std::vector<idx_t>{1, 798}, std::vector<idx_t>{1, 1}, std::vector<idx_t>{1, -1}}) {
    require_faiss_error("id", [&] { index->add_with_ids(2, row(500), bad.data()); });
    CHECK(!lists.has_id(1));
    CHECK((written(*index) == before));
  }
  require_faiss_error("id 400", [&] { index->add(3, row(500)); });  // ids from ntotal on
  CHECK((written(*index) == before));
  auto other = trained();
  other->add_with_ids(3, row(500), ids_from(797, 3, 1).data());
  require_faiss_error("id 798", [&] { index->merge_from(*other, 0); });
  CHECK((written(*index) == before));
  CHECK((other->ntotal == 3 && !lists.has_id(797)));

  lists.keep_ids(false);
  index->add_with_ids(2, row(500), ids_from(798, 2, 0).data());
  require_faiss_error("id 798 is that of two rows", [&] { lists.keep_ids(); });
  CHECK(!lists.keeps_ids());
}

TEST_CASE("FAISS's own map can be made in place of kept ids, and the other way round",
          "[faiss][ivf]") {
  auto index = trained();
  IndexIVFPolar& lists = lists_of(*index);
  lists.keep_ids();
  const std::vector<idx_t> ids = ids_from(3, 500, 7);
  index->add_with_ids(500, row(0), ids.data());
  lists.set_direct_map_type(kHashtable);
  const idx_t fresh = 1;
  lists.upsert_vectors(1, &fresh, row(600));
  CHECK(!lists.keeps_ids());
  CHECK(lists.direct_map.hashtable.size() == 501);
  const size_t before = lists.memory_bytes();
  lists.keep_ids();
  CHECK(lists.direct_map.no());
  CHECK(lists.direct_map.hashtable.empty());
  CHECK(lists.has_id(fresh));
  CHECK(lists.memory_bytes() - before <= 501 * 10 + 64);
  CHECK(remove(*index, {1, 3, 10}) == 3);
  CHECK(lists.memory_bytes() - before <= 501 * 10 + 64);
  // A reader that does not ask for them makes FAISS's.
  const auto read = polarquant::read_index(
      [bytes = written(*index), at = size_t{0}](void* data, size_t count) mutable {
        count = std::min(count, bytes.size() - at);
        std::copy_n(bytes.data() + at, count, static_cast<uint8_t*>(data));
        at += count;
        return count;
      });
  CHECK(lists_of(*read).direct_map.type == kHashtable);
  // Lists that FAISS's tools shortened: ids whose rows went are not found.
  lists.invlists->resize(0, 0);
  for (const idx_t id : ids) {
    std::vector<float> x(kDim);
    if (lists.has_id(id)) index->reconstruct(id, x.data());
  }
}

TEST_CASE("Lists whose rows come and go in turn stay small", "[faiss][ivf]") {
  auto index = trained();
  IndexIVFPolar& lists = lists_of(*index);
  lists.keep_ids();
  const size_t empty = lists.memory_bytes();
  std::vector<idx_t> ids = ids_from(0, kRows, 1);
  index->add_with_ids(kRows, row(0), ids.data());
  const size_t filled = lists.memory_bytes() - empty;
  Random random(7);
  for (idx_t next = kRows; next < 20 * kRows; ++next) {
    idx_t& gone = ids[static_cast<size_t>(random.below(kRows))];
    REQUIRE(remove(*index, {gone}) == 1);
    gone = next;
    index->add_with_ids(1, row(random.below(kRows)), &next);
  }
  CHECK((lists.memory_bytes() - empty) * 100 <= filled * 112);
  CHECK(remove(*index, {ids.begin(), ids.end() - 10}) == ids.size() - 10);
  CHECK(lists.memory_bytes() - empty <= filled / 8);
}

}  // namespace polarquant::test
