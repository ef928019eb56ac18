// SPDX-License-Identifier: MIT
// Merges: whatever came by one has its right id, can be saved and loaded, and both indexes can be
// used as before; what is refused changes neither.
#include <cstring>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/support/temporary_folder.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 400;
constexpr int64_t kK = 5;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(kRows, kDim, 1);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }
int64_t id_of(int64_t row) { return 100000 - 3 * row; }

IndexHandle trained(const std::string& description, polar_metric metric) {
  IndexHandle index = make_index(description.c_str(), kDim, metric);
  require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
  if (polar_index_nlist(index.get()) > 0) require_ok(polar_index_set_nprobe(index.get(), 4));
  return index;
}

IndexHandle clone(const IndexHandle& index) {
  polar_index* made = nullptr;
  require_ok(polar_index_clone(index.get(), &made));
  return IndexHandle(made);
}

/// Rows first … end−1, with the ids id_of gives them or without.
void add(const IndexHandle& index, bool with_ids, int64_t first, int64_t end) {
  std::vector<int64_t> ids;
  for (int64_t i = first; i < end; ++i) ids.push_back(id_of(i));
  require_ok(
      with_ids ? polar_index_add_with_ids(index.get(), end - first, row(first), ids.data(), nullptr)
               : polar_index_add(index.get(), end - first, row(first), nullptr));
}

struct Answers {
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Answers&) const = default;
};

Answers answers(const IndexHandle& index) {
  constexpr int64_t kQueries = 40;
  Answers found{std::vector<float>(kQueries * kK), std::vector<int64_t>(kQueries * kK)};
  require_ok(polar_index_search(index.get(), kQueries, row(kRows - kQueries), kK, nullptr,
                                found.scores.data(), found.ids.data()));
  return found;
}

int32_t append(void* user, const void* data, size_t bytes) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(data), bytes);
  return 0;
}

std::string saved(const IndexHandle& index) {
  std::string bytes;
  require_ok(polar_index_save_to(index.get(), append, &bytes, nullptr));
  return bytes;
}

/// Saved, loaded in both ways and cloned it gives the same answers.
void check_storable(const IndexHandle& index) {
  const Answers expected = answers(index);
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  polar_save_options verified;
  polar_save_options_init(&verified);
  verified.verify = 1;
  require_ok(polar_index_save(index.get(), path.c_str(), &verified));
  for (const int32_t mapped : {0, 1}) {
    polar_load_options options;
    polar_load_options_init(&options);
    options.memory_map = mapped;
    options.trust_faiss = 1;
    polar_index* loaded = nullptr;
    require_ok(polar_index_load(path.c_str(), &options, &loaded));
    const IndexHandle again(loaded);
    CHECK(answers(again) == expected);
  }
  CHECK(answers(clone(index)) == expected);
}

/// Each row is what reconstruct gives for its id, as in `expected`.
void check_rows(const IndexHandle& index, const IndexHandle& expected, bool with_ids,
                int64_t count) {
  std::vector<float> x(kDim);
  std::vector<float> wanted(kDim);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = with_ids ? id_of(i) : i;
    if (polar_index_reconstruct(expected.get(), id, wanted.data()) == POLAR_ERROR_UNSUPPORTED)
      return;
    require_ok(polar_index_reconstruct(index.get(), id, x.data()));
    REQUIRE(x == wanted);
  }
}

struct Merged {
  const char* description;
  bool takes_ids;
  bool takes_none = true;
};
constexpr Merged kMerged[] = {
    {"Polar4", true},
    {"Polar2-pca", true},
    {"PCA8,Polar4", true},
    {"IDMap,Polar4", true},
    {"IDMap2,Polar4", true},
    {"L2norm,IDMap2,Polar2", true},
    {"IVF4,Polar4", true},
    {"PCA8,IVF4,Polar4", true},
    {"IDMap,IVF4,Polar4", true},
    {"IDMap2,IVF4,Polar4", true},
    {"IDMap2,PCA8,IVF4,Polar2", true},
    {"Flat", false},
    {"SQ8", false},
    {"PCA8,Flat", false},
    {"IDMap,Flat", true},
    {"IDMap2,SQ8", true},
    {"IVF4,Flat", true},
    {"IVF4,SQ8", true},
    {"IVF4,PQ4x4np", true},
    {"IDMap,IVF4,Flat", true},
    {"IDMap2,IVF4,SQ8", true},
    {"IDMap2,PCA8,IVF4,Flat", true},
    {"IVF4(Polar8),SQ8", true},
};

TEST_CASE("merged rows have their ids, and both sides can be used", "[capi][merges]") {
  for (const Merged& merged : kMerged) {
    for (const bool with_ids : {false, true}) {
      if (with_ids && !merged.takes_ids) continue;
      // The index holds rows already, or is trained and nothing else.
      for (const int64_t rows_before : {int64_t{0}, int64_t{150}}) {
        INFO(merged.description << " ids " << with_ids << " held " << rows_before);
        const IndexHandle index = trained(merged.description, POLAR_METRIC_L2);
        const IndexHandle other = clone(index);
        const IndexHandle expected = clone(index);
        if (rows_before > 0) add(index, with_ids, 0, rows_before);
        add(other, with_ids, rows_before, kRows - 1);
        // In the same pieces: products of matrices are rounded by how many rows come together.
        if (rows_before > 0) add(expected, with_ids, 0, rows_before);
        add(expected, with_ids, rows_before, kRows - 1);
        require_ok(polar_index_merge(index.get(), other.get(), nullptr));
        CHECK(polar_index_ntotal(index.get()) == kRows - 1);
        CHECK(polar_index_ntotal(other.get()) == 0);
        CHECK(answers(index) == answers(expected));
        check_rows(index, expected, with_ids, kRows - 1);
        check_storable(index);
        check_storable(other);

        // The emptied one takes rows of either kind, by itself and by a merge.
        for (const bool other_ids : {!with_ids, with_ids}) {
          if (other_ids && !merged.takes_ids) continue;
          const IndexHandle emptied = clone(other);
          add(emptied, other_ids, 0, 20);
          const IndexHandle by_merge = clone(other);
          const IndexHandle source = clone(emptied);
          require_ok(polar_index_merge(other.get(), source.get(), nullptr));
          CHECK(answers(other) == answers(emptied));
          check_rows(other, emptied, other_ids, 20);
          check_storable(other);
          require_ok(polar_index_merge(by_merge.get(), other.get(), nullptr));
          CHECK(answers(by_merge) == answers(emptied));
        }
        // And what took rows takes more.
        add(index, with_ids, kRows - 1, kRows);
        add(expected, with_ids, kRows - 1, kRows);
        CHECK(answers(index) == answers(expected));
        check_rows(index, expected, with_ids, kRows);
        check_storable(index);
      }
    }
  }
}

TEST_CASE("inverted files that are not trained have nothing to merge", "[capi][merges]") {
  for (const char* description : {"IVF4,Polar4", "IVF4,Flat"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    const IndexHandle other = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(polar_index_merge(index.get(), other.get(), nullptr));
    const std::vector<float> x = normal_rows(400, kDim, 1);
    require_ok(polar_index_train(other.get(), 400, x.data(), nullptr));
    check_failed(polar_index_merge(index.get(), other.get(), nullptr), POLAR_ERROR_STATE_MISMATCH,
                 {"one of the indexes is not trained"});
  }
}

TEST_CASE("an index that took rows by a merge is not trained again", "[capi][merges]") {
  const IndexHandle index = trained("Polar4", POLAR_METRIC_L2);
  const IndexHandle other = clone(index);
  add(other, true, 0, 50);
  require_ok(polar_index_merge(index.get(), other.get(), nullptr));
  check_failed(polar_index_train(index.get(), kRows, rows().data(), nullptr),
               POLAR_ERROR_STATE_MISMATCH, {"holds 50 rows"});
}

TEST_CASE("a refused merge changes neither side", "[capi][merges]") {
  for (const Merged& merged : kMerged) {
    INFO(merged.description);
    const IndexHandle index = trained(merged.description, POLAR_METRIC_L2);
    const IndexHandle other = clone(index);
    const auto refused = [&](polar_status status) {
      const std::string before = saved(index);
      const std::string before_other = saved(other);
      CHECK(polar_index_merge(index.get(), other.get(), nullptr) == status);
      CHECK((saved(index) == before));
      CHECK((saved(other) == before_other));
      CHECK(answers(index) == answers(clone(index)));
    };
    if (merged.takes_ids) {
      add(index, true, 0, 100);
      add(other, true, 99, 150);  // one id in both
      refused(POLAR_ERROR_BAD_ARGUMENT);
      const IndexHandle apart = clone(index);
      const int64_t ids[] = {id_of(99)};
      if (polar_index_remove(other.get(), 1, ids, nullptr) == POLAR_OK) {
        require_ok(polar_index_merge(index.get(), other.get(), nullptr));
        CHECK(polar_index_ntotal(index.get()) == 150);
      }
    } else {
      add(index, false, 0, 100);
    }
  }
  for (const char* description :
       {"HNSW8,Flat", "HNSW8,Polar4", "Polar2,RFlat", "IVF4,PQ4x4fs", "IVF4,PQ4+4"}) {
    INFO(description);
    const IndexHandle index = trained(description, POLAR_METRIC_L2);
    const IndexHandle other = clone(index);
    add(index, false, 0, 100);
    add(other, false, 100, 150);
    const Answers before = answers(index);
    const Answers before_other = answers(other);
    CHECK(polar_index_merge(index.get(), other.get(), nullptr) != POLAR_OK);
    CHECK(answers(index) == before);
    CHECK(answers(other) == before_other);
  }
}

TEST_CASE("a file is read back before it takes its name", "[capi][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  for (const char* description :
       {"Polar4", "IDMap2,IVF4,Polar4", "HNSW8,Flat", "IVF4,PQ4x4np", "Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = trained(description, POLAR_METRIC_COSINE);
    polar_save_options options;
    polar_save_options_init(&options);
    options.verify = 1;
    require_ok(polar_index_save(index.get(), path.c_str(), &options));
    add(index, false, 0, 70);
    require_ok(polar_index_save(index.get(), path.c_str(), &options));
    require_ok(polar_index_save(index.get(), path.c_str(), nullptr));
    options.verify = 2;
    check_failed(polar_index_save(index.get(), path.c_str(), &options), POLAR_ERROR_BAD_ARGUMENT,
                 {"options.verify: 2"});
  }
}

}  // namespace
