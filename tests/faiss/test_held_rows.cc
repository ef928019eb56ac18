// SPDX-License-Identifier: MIT
// The state of held rows (core/rows_state.h) stays while rows are only added, so that a copy may
// follow by these alone; every change of rows that were there makes it another.
#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/faiss/index/row_changes.h"
#include "src/scan/search/list_search.h"
#include "src/scan/stores/row_store.h"
#include "tests/faiss/clustered_rows.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 1500;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }

/// What an index holds, in the order of its lists: one list without lists.
struct Held {
  uint64_t state;
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<uint8_t>> codes;

  /// Whether another has these rows, with their ids, and more after them.
  bool begins(const Held& other) const {
    const auto is_prefix = [](const auto& a, const auto& b) {
      return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
    };
    for (size_t list = 0; list < ids.size(); ++list)
      if (!is_prefix(ids[list], other.ids[list]) || !is_prefix(codes[list], other.codes[list]))
        return false;
    return true;
  }
};

Held held_by(const ::faiss::Index& index) {
  Held held;
  if (const auto* flat = dynamic_cast<const IndexPolar*>(&index)) {
    const RowStore& store = flat->codes();
    held.state = store.held_rows_state();
    held.ids.push_back(flat->ids());
    const size_t bytes = flat->sa_code_size();
    held.codes.emplace_back(static_cast<size_t>(store.rows()) * bytes);
    for (int64_t i = 0; i < store.rows(); ++i)
      store.get(flat->codec(), i, held.codes.back().data() + static_cast<size_t>(i) * bytes);
    return held;
  }
  const CodeLists& lists = dynamic_cast<const IndexIVFPolar&>(index).inverted_file().lists;
  held.state = lists.held_rows_state();
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t count = lists.rows(list);
    held.ids.emplace_back(lists.ids(list), lists.ids(list) + count);
    held.codes.emplace_back(static_cast<size_t>(count) * lists.code_bytes());
    for (int64_t i = 0; i < count; ++i)
      lists.get(list, i, held.codes.back().data() + static_cast<size_t>(i) * lists.code_bytes());
  }
  return held;
}

/// An index, and what it held before the last change.
class Watched {
 public:
  explicit Watched(::faiss::Index& index) : index_(index), before_(held_by(index)) {}

  /// The change only adds rows.
  template <typename Change>
  void adds(const char* what, const Change& change) {
    CAPTURE(what);
    change();
    const Held now = held_by(index_);
    CHECK(now.state == before_.state);
    CHECK(before_.begins(now));
    before_ = now;
  }
  template <typename Change>
  void changes(const char* what, const Change& change) {
    CAPTURE(what);
    change();
    const Held now = held_by(index_);
    CHECK(now.state != before_.state);
    before_ = now;
  }

 private:
  ::faiss::Index& index_;
  Held before_;
};

TEST_CASE("The state of held rows says whether rows were only added", "[faiss]") {
  const std::string description = GENERATE("Polar4", "Polar2", "IVF16,Polar4", "IVF16,Polar8");
  const bool has_ids = GENERATE(true, false);
  CAPTURE(description, has_ids);
  const std::unique_ptr<::faiss::Index> index = index_factory(kDim, description);
  index->train(kRows, row(0));
  auto* flat = dynamic_cast<IndexPolar*>(index.get());
  auto* lists = dynamic_cast<IndexIVFPolar*>(index.get());
  if (lists != nullptr) lists->keep_ids();
  int64_t next = 0;
  const auto add = [&](int64_t n) {
    std::vector<idx_t> ids;
    for (int64_t i = 0; i < n; ++i) ids.push_back(next + i);
    if (has_ids) {
      index->add_with_ids(n, row(0), ids.data());
    } else {
      index->add(n, row(0));
    }
    next += n;
  };
  add(700);
  REQUIRE(held_by(*index).state != kUnknownRows);
  Watched watched(*index);
  watched.adds("nothing", [] {});
  watched.adds("add", [&] { add(1); });
  watched.adds("add many", [&] { add(500); });
  watched.adds("our add_rows", [&] {
    const std::vector<idx_t> ids = {next, next + 1};
    add_rows(*index, 2, row(3), has_ids ? ids.data() : nullptr);
    next += 2;
  });
  const std::vector<idx_t> keys = {5, 600};
  watched.changes("update_vectors", [&] {
    if (flat != nullptr) return flat->update_vectors(2, keys.data(), row(40));
    lists->update_vectors(2, keys.data(), row(40));
  });
  watched.changes("put_rows", [&] { put_rows(*index, 1, keys.data(), row(90), false); });
  if (has_ids) {
    watched.changes("upsert", [&] { upsert_vectors(*index, 2, keys.data(), row(70)); });
    watched.adds("upsert of others", [&] {
      const std::vector<idx_t> ids = {next, next + 1};
      upsert_vectors(*index, 2, ids.data(), row(3));
      next += 2;
    });
  }
  watched.adds("compact", [&] { compact_index(*index); });
  // As many rows as before.
  watched.changes("remove_ids, and add", [&] {
    const ::faiss::IDSelectorBatch one(1, keys.data());
    CHECK(index->remove_ids(one) == 1);
    if (has_ids) {
      index->add_with_ids(1, row(9), keys.data());
    } else if (flat != nullptr) {
      index->add(1, row(9));
    }
  });
  watched.changes("remove_rows", [&] {
    const std::vector<idx_t> last = {600};
    const ::faiss::IDSelectorBatch one(1, last.data());
    CHECK(remove_rows(*index, one) == 1);
  });
  if (flat != nullptr && !has_ids) {
    watched.changes("remove_positions", [&] { flat->remove_positions({8}); });
    watched.changes("remove_row", [&] { flat->remove_row(5, 7); });
  }
  watched.adds("merge", [&] {
    const std::unique_ptr<::faiss::Index> other = clone_index(*index);
    other->reset();
    const std::vector<idx_t> ids = {next + 100, next + 101};
    add_rows(*other, 2, row(8), has_ids || lists != nullptr ? ids.data() : nullptr);
    merge_rows(*index, *other, 0);
  });
  if (lists != nullptr) {
    auto& inside = dynamic_cast<PolarInvertedLists&>(*lists->invlists);
    size_t longest = 0;
    for (size_t i = 1; i < lists->nlist; ++i)
      if (inside.list_size(i) > inside.list_size(longest)) longest = i;
    const std::vector<uint8_t> code(lists->code_size, 1);
    const idx_t id = 77777;
    watched.changes("an entry of a list",
                    [&] { inside.update_entries(longest, 2, 1, &id, code.data()); });
    watched.changes("an id of a list", [&] { inside.set_id(longest, 1, 88888); });
    watched.changes("a shorter list",
                    [&] { inside.resize(longest, inside.list_size(longest) - 1); });
    watched.adds("a longer list", [&] { inside.add_entries(longest, 1, &id, code.data()); });
    watched.changes("other lists", [&] {
      inside.replace_lists(CodeLists::make(lists->codec(), static_cast<int64_t>(lists->nlist)));
    });
  }
  watched.changes("reset", [&] { index->reset(); });
  if (lists != nullptr) {
    watched.changes("train", [&] { index->train(kRows, row(0)); });
  }
  // Of another index with the same rows nothing is known.
  add(100);
  CHECK(held_by(*clone_index(*index)).state != held_by(*index).state);
}

TEST_CASE("Rows that an index learns from are others when they are coded", "[faiss]") {
  IndexPolar index(kDim, "Polar4");
  index.add(600, row(0));
  CHECK(index.codes().held_rows_state() == kUnknownRows);
  index.add(600, row(600));
  const uint64_t coded = index.codes().held_rows_state();
  CHECK(coded != kUnknownRows);
  index.add(100, row(0));
  CHECK(index.codes().held_rows_state() == coded);
}

TEST_CASE("An add that fails leaves rows that may not be those that were copied", "[faiss]") {
  const std::unique_ptr<::faiss::Index> index = index_factory(kDim, "Polar4");
  index->train(kRows, row(0));
  const std::vector<idx_t> ids = {1, 2, 3, 2};
  index->add_with_ids(3, row(0), ids.data());
  const Held before = held_by(*index);
  REQUIRE_THROWS(index->add_with_ids(4, row(0), ids.data()));
  const Held now = held_by(*index);
  CHECK(before.begins(now));
  CHECK(now.begins(before));
}

}  // namespace
}  // namespace polarquant::test
