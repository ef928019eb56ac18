// SPDX-License-Identifier: MIT
// Prepared filters: they keep what the filter kept that they were made of, of every index that they
// are used for, whatever has changed there since.
#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 64;
constexpr int64_t kRows = 3000;
constexpr int64_t kQueries = 3;
constexpr int64_t kK = 10;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(2 * kRows, kDim, 21);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }
int64_t id_of(int64_t row) { return 5 * row + 3; }

std::vector<int64_t> ids_of(int64_t first, int64_t count) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(id_of(first + i));
  return ids;
}

IndexHandle filled(const std::string& description, bool with_ids) {
  IndexHandle index = make_index(description.c_str(), kDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(index.get(), kRows, row(0), nullptr));
  if (with_ids) {
    require_ok(
        polar_index_add_with_ids(index.get(), kRows, row(0), ids_of(0, kRows).data(), nullptr));
  } else {
    require_ok(polar_index_add(index.get(), kRows, row(0), nullptr));
  }
  return index;
}

struct Found {
  std::vector<float> scores = std::vector<float>(kQueries * kK);
  std::vector<int64_t> ids = std::vector<int64_t>(kQueries * kK);
  bool operator==(const Found& other) const { return scores == other.scores && ids == other.ids; }
};

/// For threads, which may check nothing themselves.
polar_status try_search(const IndexHandle& index, const polar_filter& filter, Found* found) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 1;
  options.filter = &filter;
  if (polar_index_nlist(index.get()) > 0) options.nprobe = polar_index_nlist(index.get());
  return polar_index_search(index.get(), kQueries, row(0), kK, &options, found->scores.data(),
                            found->ids.data());
}

Found search(const IndexHandle& index, const polar_filter& filter) {
  Found found;
  require_ok(try_search(index, filter, &found));
  return found;
}

/// Some ids of rows there are, or will be; `share`: of a hundred.
std::vector<int64_t> some_ids(uint64_t share, bool with_ids) {
  polarquant::Random random(share);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 2 * kRows; ++i)
    if (random.below(100) < share) ids.push_back(with_ids ? id_of(i) : i);
  return ids;
}

}  // namespace

TEST_CASE("a prepared filter keeps the same after every change of rows", "[capi][filters]") {
  struct Kind {
    const char* description;
    bool with_ids;
    bool removes;
  };
  for (const auto& [description, with_ids, removes] :
       {Kind{"Polar4", false, true}, Kind{"Polar4", true, true}, Kind{"IVF16,Polar4", false, false},
        Kind{"IVF16,Polar4", true, true}, Kind{"IVF16,Polar1", true, true},
        Kind{"IDMap2,Polar4", true, true}, Kind{"HNSW16,Polar4", false, false},
        Kind{"IDMap2,HNSW16,Polar4", true, false}, Kind{"IVF16,Flat", true, true}}) {
    for (const uint64_t share : {1U, 50U}) {
      INFO(description << (with_ids ? " with ids, " : ", ") << share << " % of the rows");
      const IndexHandle index = filled(description, with_ids);
      const std::vector<int64_t> ids = some_ids(share, with_ids);
      const polar_filter listed = id_list_filter(ids.data(), std::ssize(ids));
      const PreparedFilterHandle prepared = prepared_filter(listed);
      const auto check_same = [&, description = description](const char* after) {
        INFO("after " << after);
        const Found expected = search(index, listed);
        CHECK(search(index, filter_of(prepared)).ids == expected.ids);
        CHECK(search(index, filter_of(prepared)) == expected);  // by what was kept
        CHECK(std::all_of(expected.ids.begin(), expected.ids.end(), [&](int64_t id) {
          return id < 0 || std::binary_search(ids.begin(), ids.end(), id);
        }));
      };
      check_same("filling");
      if (with_ids) {
        require_ok(polar_index_add_with_ids(index.get(), kRows, row(kRows),
                                            ids_of(kRows, kRows).data(), nullptr));
      } else {
        require_ok(polar_index_add(index.get(), kRows, row(kRows), nullptr));
      }
      check_same("adding");
      if (!removes) continue;
      const std::vector<int64_t> gone = {ids[0], ids[1], ids[5]};
      require_ok(polar_index_remove(index.get(), 3, gone.data(), nullptr));
      check_same("removing");
      if (with_ids && std::string(description).find("Flat") == std::string::npos) {
        require_ok(polar_index_update(index.get(), 1, &ids[2], row(7), nullptr));
        check_same("updating");
      }
      const polar_filter all_listed = filter_of(prepared);
      require_ok(polar_index_remove_filtered(index.get(), &all_listed, nullptr));
      // Positions were numbered anew.
      if (with_ids) CHECK(search(index, filter_of(prepared)).ids[0] == -1);
    }
  }
}

TEST_CASE("one prepared filter serves several indexes and threads", "[capi][filters]") {
  std::vector<IndexHandle> indexes;
  for (const char* description : {"Polar4", "Polar2", "IVF16,Polar4", "HNSW16,Polar2", "Polar3",
                                  "IVF4,Polar2", "Polar2,RFlat"})
    indexes.push_back(filled(description, false));
  const std::vector<int64_t> ids = some_ids(2, false);
  const polar_filter listed = id_list_filter(ids.data(), std::ssize(ids));
  const PreparedFilterHandle prepared = prepared_filter(listed);
  std::vector<Found> expected;
  for (const IndexHandle& index : indexes) expected.push_back(search(index, listed));
  // More indexes than states it keeps, in different orders.
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 70; ++i) {
        const size_t at = i * (thread + 1) % indexes.size();
        Found found;
        const polar_status status = try_search(indexes[at], filter_of(prepared), &found);
        if (status != POLAR_OK || !(found == expected[at])) ++wrong[thread];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a prepared filter has copies of what it was made of", "[capi][filters]") {
  const IndexHandle index = filled("Polar4", true);
  std::vector<uint64_t> words(200);
  for (size_t i = 0; i < words.size(); ++i) words[i] = 0x1111'0000'8888'00FFU * (i + 1);
  const Found expected = search(index, bitset_filter(words.data(), 12'345));
  const PreparedFilterHandle prepared = prepared_filter(bitset_filter(words.data(), 12'345));
  std::fill(words.begin(), words.end(), 0);
  CHECK(search(index, filter_of(prepared)) == expected);

  const PreparedFilterHandle everything = prepared_filter(filter_of(POLAR_FILTER_NONE));
  CHECK(search(index, filter_of(everything)) == search(index, filter_of(POLAR_FILTER_NONE)));
  const PreparedFilterHandle nothing = prepared_filter(id_list_filter(nullptr, 0));
  CHECK(search(index, filter_of(nothing)).ids == std::vector<int64_t>(kQueries * kK, -1));
}

TEST_CASE("few rows that a prepared filter keeps are copied, to the same end", "[capi][filters]") {
  for (const char* spec :
       {"Polar4", "Polar2+2", "Polar8", "Polar2-pca", "Polar1", "PolarScalar4"}) {
    for (const bool with_ids : {false, true}) {
      const IndexHandle index = filled(spec, with_ids);
      const std::vector<int64_t> ids = some_ids(9, with_ids);
      const polar_filter listed = id_list_filter(ids.data(), std::ssize(ids));
      const PreparedFilterHandle prepared = prepared_filter(listed);
      const polar_filter kept = filter_of(prepared);
      for (const float exactness : {0.F, 2.25F, kInfinity}) {
        for (const int64_t k : {1, 10, 500}) {
          INFO(spec << (with_ids ? " with ids" : "") << ", exactness " << exactness << ", k " << k);
          const auto answers = [&](const polar_filter& filter, int64_t nq, float radius) {
            polar_search_options options;
            polar_search_options_init(&options);
            options.filter = &filter;
            options.exactness = exactness;
            std::vector<float> scores(static_cast<size_t>(nq * k));
            std::vector<int64_t> found(scores.size());
            require_ok(polar_index_search(index.get(), nq, row(kRows), k, &options, scores.data(),
                                          found.data()));
            std::vector<int64_t> lims(static_cast<size_t>(nq + 1));
            std::vector<float> near_scores(static_cast<size_t>(nq * kRows));
            std::vector<int64_t> near(near_scores.size());
            require_ok(polar_index_range_search(index.get(), nq, row(kRows), radius, &options,
                                                std::ssize(near), lims.data(), near_scores.data(),
                                                near.data()));
            found.insert(found.end(), near.begin(), near.begin() + lims.back());
            scores.insert(scores.end(), near_scores.begin(), near_scores.begin() + lims.back());
            return std::pair(found, scores);
          };
          const auto expected = answers(listed, 1, 115);
          CHECK(expected.second.size() > static_cast<size_t>(k) + 10);
          for (int i = 0; i < 6; ++i) CHECK(answers(kept, 1, 115) == expected);
          CHECK(answers(kept, 20, 115) == answers(listed, 20, 115));
        }
      }
    }
  }
}

TEST_CASE("graphs search copies of the rows that a prepared filter keeps", "[capi][filters]") {
  // Half of the rows, which are alike: a walk from anywhere else would miss them.
  std::vector<uint64_t> words((kRows + 63) / 64);
  for (int64_t i = 0; i < kRows; ++i)
    if (row(i)[0] + row(i)[1] > 0) words[static_cast<size_t>(i / 64)] |= uint64_t{1} << i % 64;
  polar_filter bits;
  polar_filter_init(&bits);
  bits.kind = POLAR_FILTER_BITSET;
  bits.bitset = {words.data(), kRows};
  const Found expected = search(filled("Polar4", false), bits);
  for (const char* description : {"HNSW16,Polar4", "NSG16,Polar4", "IDMap2,HNSW16,Polar4"}) {
    INFO(description);
    const IndexHandle index = filled(description, false);
    const PreparedFilterHandle prepared = prepared_filter(bits);
    for (int i = 0; i < 3; ++i) search(index, filter_of(prepared));
    CHECK(search(index, filter_of(prepared)) == expected);
    // Many queries are worth it without preparing.
    polar_search_options options;
    polar_search_options_init(&options);
    options.filter = &bits;
    std::vector<float> scores(20 * kK);
    std::vector<int64_t> ids(20 * kK);
    require_ok(
        polar_index_search(index.get(), 20, row(0), kK, &options, scores.data(), ids.data()));
    scores.resize(expected.scores.size());
    ids.resize(expected.ids.size());
    CHECK(scores == expected.scores);
    CHECK(ids == expected.ids);
  }
}

TEST_CASE("what cannot be prepared is refused", "[capi][filters]") {
  polar_prepared_filter* out = nullptr;
  const polar_filter none = filter_of(POLAR_FILTER_NONE);
  check_failed(polar_prepared_filter_create(&none, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"out"});
  check_failed(polar_prepared_filter_create(nullptr, &out), POLAR_ERROR_BAD_ARGUMENT, {"filter"});
  const polar_filter called = callback_filter([](void*, int64_t) -> int32_t { return 1; }, nullptr);
  check_failed(polar_prepared_filter_create(&called, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"filter.kind: 4 is not allowed"});
  const PreparedFilterHandle prepared = prepared_filter(range_filter(1, 5));
  const polar_filter again = filter_of(prepared);
  check_failed(polar_prepared_filter_create(&again, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"filter.kind: 5 is not allowed"});
  const int64_t falling[] = {3, 2};
  const polar_filter wrong = id_list_filter(falling, 2);
  check_failed(polar_prepared_filter_create(&wrong, &out), POLAR_ERROR_BAD_ARGUMENT,
               {"filter.ids.ids"});
  CHECK(out == nullptr);

  const IndexHandle index = filled("Polar4", false);
  polar_search_options options;
  polar_search_options_init(&options);
  const polar_filter empty = filter_of(POLAR_FILTER_PREPARED);
  options.filter = &empty;
  Found found;
  check_failed(polar_index_search(index.get(), 1, row(0), kK, &options, found.scores.data(),
                                  found.ids.data()),
               POLAR_ERROR_BAD_ARGUMENT, {"filter.prepared", "NULL"});
  // A caller of an older header gives a shorter struct.
  polar_filter shorter = filter_of(POLAR_FILTER_RANGE);
  shorter.range = {0, 50};
  shorter.struct_size = offsetof(polar_filter, prepared);
  options.filter = &shorter;
  require_ok(polar_index_search(index.get(), 1, row(0), kK, &options, found.scores.data(),
                                found.ids.data()));
  CHECK(found.ids[kK - 1] < 50);
  polar_prepared_filter_destroy(nullptr);
}
