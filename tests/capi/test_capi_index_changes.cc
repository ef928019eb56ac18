// SPDX-License-Identifier: MIT
// Range searches, and changes of the rows that an index holds, in every kind of index.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 400;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(kRows, kDim, 1);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }

/// An index of rows first … end−1, with ids 1000 + 3·row or without.
IndexHandle filled(const char* description, polar_metric metric, bool with_ids, int64_t first = 0,
                   int64_t end = kRows) {
  IndexHandle index = make_index(description, kDim, metric);
  require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
  std::vector<int64_t> ids;
  for (int64_t i = first; i < end; ++i) ids.push_back(1000 + 3 * i);
  require_ok(
      with_ids ? polar_index_add_with_ids(index.get(), end - first, row(first), ids.data(), nullptr)
               : polar_index_add(index.get(), end - first, row(first), nullptr));
  return index;
}

struct Results {
  std::vector<int64_t> lims;
  std::vector<float> scores;
  std::vector<int64_t> ids;
  bool operator==(const Results&) const = default;
};

Results search(const IndexHandle& index, int64_t nq, int64_t k) {
  Results found{{}, std::vector<float>(static_cast<size_t>(nq * k)), {}};
  found.ids.resize(found.scores.size());
  require_ok(polar_index_search(index.get(), nq, rows().data(), k, nullptr, found.scores.data(),
                                found.ids.data()));
  return found;
}

Results range_search(const IndexHandle& index, int64_t nq, float radius,
                     const polar_search_options* options) {
  Results found{std::vector<int64_t>(static_cast<size_t>(nq + 1)), {}, {}};
  require_ok(polar_index_range_search(index.get(), nq, rows().data(), radius, options, 0,
                                      found.lims.data(), nullptr, nullptr));
  found.scores.resize(static_cast<size_t>(found.lims.back()));
  found.ids.resize(found.scores.size());
  std::vector<int64_t> lims(found.lims.size());
  require_ok(polar_index_range_search(index.get(), nq, rows().data(), radius, options,
                                      found.lims.back(), lims.data(), found.scores.data(),
                                      found.ids.data()));
  CHECK(lims == found.lims);
  return found;
}

constexpr int64_t kIdsThatGo[] = {1003, 1000 + 3 * 399, 1000, 5,
                                  1300};  // of rows 1, 399, 0, –, 100

}  // namespace

TEST_CASE("range searches find what a search for every row does", "[capi][range]") {
  for (const char* description : {"Polar4", "L2norm,Polar4", "PolarScalar4", "IDMap2,Polar4"}) {
    for (const polar_metric metric :
         {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_L2, POLAR_METRIC_COSINE}) {
      INFO(description << " metric " << metric);
      const IndexHandle index = filled(description, metric, true);
      const Results all = search(index, 3, kRows);
      const float radius = all.scores[40];
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = kInfinity;
      const Results found = range_search(index, 3, radius, &options);
      Results expected{{0}, {}, {}};
      for (size_t i = 0; i < all.ids.size(); ++i) {
        if (metric == POLAR_METRIC_L2 ? all.scores[i] < radius : all.scores[i] > radius) {
          expected.scores.push_back(all.scores[i]);
          expected.ids.push_back(all.ids[i]);
        }
        if ((i + 1) % kRows == 0)
          expected.lims.push_back(static_cast<int64_t>(expected.ids.size()));
      }
      CHECK(found == expected);
      CHECK(found.lims[1] == 40);

      // A buffer that is too small is filled as far as it goes.
      std::vector<int64_t> lims(4);
      std::vector<float> scores(11, kNan);
      std::vector<int64_t> ids(11, -7);
      require_ok(polar_index_range_search(index.get(), 3, rows().data(), radius, &options, 10,
                                          lims.data(), scores.data(), ids.data()));
      CHECK(lims == found.lims);
      CHECK(std::equal(ids.begin(), ids.begin() + 10, found.ids.begin()));
      CHECK(ids[10] == -7);

      const polar_filter filter = range_filter(1300, 1600);
      options.filter = &filter;
      const Results filtered = range_search(index, 3, radius, &options);
      std::vector<int64_t> kept;
      std::copy_if(found.ids.begin(), found.ids.end(), std::back_inserter(kept),
                   [](int64_t id) { return id >= 1300 && id < 1600; });
      CHECK(filtered.ids == kept);
    }
  }
}

TEST_CASE("range searches tell what they cannot do", "[capi][range]") {
  const IndexHandle index = filled("Polar2", POLAR_METRIC_L2, false);
  int64_t lims[2];
  const auto call = [&](const polar_index* handle, float radius, int64_t capacity,
                        int64_t* limits) {
    return polar_index_range_search(handle, 1, rows().data(), radius, nullptr, capacity, limits,
                                    nullptr, nullptr);
  };
  check_failed(call(nullptr, 1, 0, lims), POLAR_ERROR_BAD_ARGUMENT, {"index: NULL"});
  check_failed(call(index.get(), kNan, 0, lims), POLAR_ERROR_BAD_ARGUMENT, {"radius: nan"});
  check_failed(call(index.get(), 1, -1, lims), POLAR_ERROR_BAD_ARGUMENT, {"capacity: -1"});
  check_failed(call(index.get(), 1, 5, lims), POLAR_ERROR_BAD_ARGUMENT, {"scores: NULL"});
  check_failed(call(index.get(), 1, 0, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"lims: NULL"});
  const IndexHandle empty = make_index("Polar2", kDim, POLAR_METRIC_L2);
  require_ok(call(empty.get(), 1, 0, lims));
  CHECK(lims[1] == 0);
  const IndexHandle refined = filled("Polar2,RFlat", POLAR_METRIC_L2, false);
  CHECK(range_search(refined, 2, 1e9F, nullptr).lims == std::vector<int64_t>{0, kRows, 2 * kRows});
  // FAISS's own indexes search ranges too.
  const IndexHandle flat = filled("Flat", POLAR_METRIC_L2, false);
  CHECK(range_search(flat, 2, 1e9F, nullptr).lims == std::vector<int64_t>{0, kRows, 2 * kRows});
}

TEST_CASE("graphs over many equal rows are built", "[capi][graph]") {
  for (const int64_t equal : {60, 66, 100, 200}) {
    std::vector<float> x(rows().begin(), rows().begin() + 200 * kDim);
    for (int64_t i = 1; i < equal; ++i) std::copy_n(x.data(), kDim, x.data() + i * kDim);
    for (const char* description : {"NSG16,Polar4", "NSG16,Flat", "PCA8,NSG16,Flat",
                                    "IDMap2,NSG16,Flat", "HNSW16,Polar4", "HNSW16,Flat"}) {
      INFO(description << ", " << equal << " equal");
      const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
      require_ok(polar_index_train(index.get(), 200, x.data(), nullptr));
      require_ok(polar_index_add(index.get(), 200, x.data(), nullptr));
      CHECK(polar_index_ntotal(index.get()) == 200);
      const Results found = search(index, 5, 10);
      CHECK(std::count(found.ids.begin(), found.ids.end(), -1) == 0);
    }
  }
}

TEST_CASE("rows with ids go, and their ids are free again", "[capi][changes]") {
  for (const char* description : {"Polar4", "L2norm,Polar4", "IDMap,Polar4", "IDMap2,Polar4",
                                  "IDMap2,Flat", "IVF4,Flat", "PCA8,IVF4,SQ8"}) {
    INFO(description);
    const IndexHandle index = filled(description, POLAR_METRIC_L2, true);
    int64_t removed = -1;
    require_ok(polar_index_remove(index.get(), 5, kIdsThatGo, &removed));
    CHECK(removed == 4);
    CHECK(polar_index_ntotal(index.get()) == kRows - 4);
    polar_filter filter = range_filter(1500, 1000000);
    require_ok(polar_index_remove_filtered(index.get(), &filter, &removed));
    CHECK(removed == 400 - 167 - 1);
    const Results found = search(index, 20, 50);
    for (const int64_t id : found.ids) {
      CHECK((id >= -1 && id < 1500));
      for (const int64_t gone : kIdsThatGo) CHECK(id != gone);
    }
    require_ok(polar_index_add_with_ids(index.get(), 1, row(399), kIdsThatGo + 1, nullptr));
    require_ok(polar_index_remove(index.get(), 0, nullptr, nullptr));
    // A list that names rows is not asked for each of them.
    const std::vector<int64_t> listed = {-4, 7, 1006, 1012, 1013};
    filter.kind = POLAR_FILTER_IDS;
    filter.ids = {listed.data(), std::ssize(listed)};
    require_ok(polar_index_remove_filtered(index.get(), &filter, &removed));
    CHECK(removed == std::count_if(listed.begin(), listed.end(), [](int64_t id) {
            return id >= 1000 && (id - 1000) % 3 == 0 &&
                   std::find(kIdsThatGo, kIdsThatGo + 5, id) == kIdsThatGo + 5;
          }));
    check_failed(polar_index_remove_filtered(index.get(), nullptr, nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"filter: NULL"});
    filter.kind = POLAR_FILTER_NONE;
    check_failed(polar_index_remove_filtered(index.get(), &filter, nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"filter.kind: POLAR_FILTER_NONE"});
    filter.kind = -1;
    check_failed(polar_index_remove_filtered(index.get(), &filter, nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"filter.kind: -1 is not allowed"});
  }
}

TEST_CASE("rows without ids close up, where an index can", "[capi][changes]") {
  const std::vector<int64_t> gone = {0, 1};
  for (const char* description : {"Polar4", "L2norm,Polar4", "Flat", "SQ8", "Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = filled(description, POLAR_METRIC_L2, false);
    require_ok(polar_index_remove(index.get(), 2, gone.data(), nullptr));
    Results expected = search(filled(description, POLAR_METRIC_L2, false, 2), 20, 10);
    CHECK(search(index, 20, 10) == expected);
    require_ok(polar_index_add(index.get(), 1, row(0), nullptr));
    CHECK(search(index, 1, 1).ids[0] == kRows - 2);
  }
  for (const char* description : {"IDMap2,Polar4", "IVF4,Flat"}) {
    const IndexHandle index = filled(description, POLAR_METRIC_L2, false);
    check_failed(polar_index_remove(index.get(), 2, gone.data(), nullptr), POLAR_ERROR_UNSUPPORTED,
                 {description, "polar_index_add_with_ids"});
    CHECK(polar_index_ntotal(index.get()) == kRows);
  }
  for (const char* description : {"HNSW16,Polar8", "HNSW16,Flat", "HNSW16,Polar2,RFlat"}) {
    INFO(description);
    const IndexHandle index = filled(description, POLAR_METRIC_L2, false);
    int64_t removed = 0;
    require_ok(polar_index_remove(index.get(), 2, gone.data(), &removed));
    CHECK(removed == 2);
    CHECK(polar_index_ntotal(index.get()) == kRows - 2);
    const std::vector<int64_t> ids = search(index, 20, 10).ids;
    CHECK(std::all_of(ids.begin(), ids.end(), [](int64_t id) { return id < kRows - 2; }));
    CHECK(ids[2 * 10] == 0);  // the third row is the first one now, and nearest to itself
    require_ok(polar_index_add(index.get(), 2, row(0), nullptr));
    CHECK(search(index, 1, 1).ids[0] == kRows - 2);
  }
  const IndexHandle index = filled("NSG8,Polar4", POLAR_METRIC_L2, false);
  require_ok(polar_index_remove(index.get(), 2, gone.data(), nullptr));
  CHECK(search(index, 20, 10).ids[2 * 10] == 0);
  require_ok(polar_index_compact(index.get(), nullptr));
  CHECK(search(index, 20, 10).ids[2 * 10] == 0);
  check_failed(polar_index_compact(nullptr, nullptr), POLAR_ERROR_BAD_ARGUMENT, {"index: NULL"});
  const IndexHandle theirs = filled("NSG8,Flat", POLAR_METRIC_L2, false);
  check_failed(polar_index_remove(theirs.get(), 2, gone.data(), nullptr), POLAR_ERROR_UNSUPPORTED,
               {"NSG8,Flat", "remove"});
}

TEST_CASE("rows are updated in place", "[capi][changes]") {
  for (const char* description :
       {"Polar4", "IDMap2,Polar4", "L2norm,Polar4", "IVF4,Polar4", "L2norm,IVF4,Polar4"}) {
    for (const polar_metric metric : {POLAR_METRIC_L2, POLAR_METRIC_COSINE}) {
      INFO(description << " metric " << metric);
      const IndexHandle index = filled(description, metric, true, 0, 300);
      if (polar_index_nlist(index.get()) > 0) require_ok(polar_index_set_nprobe(index.get(), 4));
      const std::vector<int64_t> ids = {1000, 1003};
      require_ok(polar_index_update(index.get(), 2, ids.data(), row(350), nullptr));
      std::vector<float> scores(2);
      std::vector<int64_t> found(2);
      require_ok(
          polar_index_search(index.get(), 2, row(350), 1, nullptr, scores.data(), found.data()));
      CHECK(found == ids);
      const Results before = search(index, 20, 10);
      const std::vector<int64_t> unknown = {1000, 1001};
      check_failed(polar_index_update(index.get(), 2, unknown.data(), row(360), nullptr),
                   POLAR_ERROR_NOT_FOUND, {"1001"});
      CHECK(search(index, 20, 10) == before);
    }
  }
  const IndexHandle flat = filled("Flat", POLAR_METRIC_L2, false);
  const int64_t id = 0;
  check_failed(polar_index_update(flat.get(), 1, &id, row(1), nullptr), POLAR_ERROR_UNSUPPORTED,
               {"cannot be changed"});
  check_failed(polar_index_update(flat.get(), 1, nullptr, row(1), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"ids: NULL"});
}

TEST_CASE("rows are put by their ids, whether they are there or not", "[capi][changes]") {
  for (const char* description : {"Polar4", "L2norm,Polar4", "IVF4,Polar4", "L2norm,IVF4,Polar4"}) {
    INFO(description);
    const IndexHandle index = filled(description, POLAR_METRIC_L2, true, 0, 300);
    if (polar_index_nlist(index.get()) > 0) require_ok(polar_index_set_nprobe(index.get(), 4));
    // One that is there, two new ones, and one of these again: the last of equal ids counts.
    const std::vector<int64_t> ids = {1003, 7, 1001, 7};
    require_ok(polar_index_upsert(index.get(), 4, ids.data(), row(350), nullptr));
    CHECK(polar_index_ntotal(index.get()) == 302);
    std::vector<float> scores(4);
    std::vector<int64_t> found(4);
    require_ok(
        polar_index_search(index.get(), 4, row(350), 1, nullptr, scores.data(), found.data()));
    CHECK(found[0] == 1003);
    CHECK(found[1] != 7);
    CHECK(found[2] == 1001);
    CHECK(found[3] == 7);
    // All of it is as if it had been there from the start: it goes, and comes, and is saved.
    int64_t removed = 0;
    require_ok(polar_index_remove(index.get(), 4, ids.data(), &removed));
    CHECK(removed == 3);
    require_ok(polar_index_upsert(index.get(), 1, &ids[1], row(351), nullptr));
    CHECK(polar_index_ntotal(index.get()) == 300);
    const Results before = search(index, 20, 10);
    const std::vector<int64_t> negative = {1003, -1};
    check_failed(polar_index_upsert(index.get(), 2, negative.data(), row(360), nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"ids: -1 at 1"});
    CHECK(search(index, 20, 10) == before);
  }
  const IndexHandle empty = make_index("Polar2", kDim, POLAR_METRIC_L2);
  const int64_t id = 5;
  require_ok(polar_index_upsert(empty.get(), 1, &id, row(0), nullptr));
  require_ok(polar_index_upsert(empty.get(), 1, &id, row(1), nullptr));
  CHECK(polar_index_ntotal(empty.get()) == 1);
  const IndexHandle positions = filled("Polar4", POLAR_METRIC_L2, false);
  check_failed(polar_index_upsert(positions.get(), 1, &id, row(1), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"ids"});
  for (const char* description : {"IDMap2,Polar4", "HNSW8,Polar4", "IDMap2,SQ8"}) {
    const IndexHandle other = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(polar_index_train(other.get(), kRows, rows().data(), nullptr));
    check_failed(polar_index_upsert(other.get(), 1, &id, row(1), nullptr), POLAR_ERROR_UNSUPPORTED,
                 {description, "by ids"});
  }
}

TEST_CASE("indexes made and trained alike merge", "[capi][changes]") {
  for (const char* description :
       {"Polar4", "L2norm,Polar4", "IDMap,Polar4", "Flat", "IVF4,Flat", "IDMap2,SQ8"}) {
    for (const bool with_ids : {false, true}) {
      if (with_ids && std::string(description) == "Flat") continue;
      INFO(description << " ids " << with_ids);
      const IndexHandle index = filled(description, POLAR_METRIC_L2, with_ids, 0, 150);
      const IndexHandle other = filled(description, POLAR_METRIC_L2, with_ids, 150);
      require_ok(polar_index_merge(index.get(), other.get(), nullptr));
      CHECK(polar_index_ntotal(other.get()) == 0);
      CHECK(polar_index_ntotal(index.get()) == kRows);
      CHECK(search(index, 20, 10) ==
            search(filled(description, POLAR_METRIC_L2, with_ids), 20, 10));
      require_ok(polar_index_add(other.get(), 1, row(0), nullptr));
      if (!with_ids) continue;
      const IndexHandle again = filled(description, POLAR_METRIC_L2, true, 5, 6);
      check_failed(polar_index_merge(index.get(), again.get(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
                   {"1015"});
      CHECK(polar_index_ntotal(index.get()) == kRows);
      CHECK(polar_index_ntotal(again.get()) == 1);
    }
  }
}

TEST_CASE("what cannot merge is told", "[capi][changes]") {
  const IndexHandle index = filled("Polar4", POLAR_METRIC_L2, false);
  const auto refused = [&](const IndexHandle& other, polar_status status, const char* part) {
    check_failed(polar_index_merge(index.get(), other.get(), nullptr), status, {part});
    CHECK(polar_index_ntotal(index.get()) == kRows);
  };
  refused(index, POLAR_ERROR_BAD_ARGUMENT, "itself");
  refused(filled("Polar2", POLAR_METRIC_L2, false), POLAR_ERROR_STATE_MISMATCH, "spec");
  refused(filled("Polar4", POLAR_METRIC_COSINE, false), POLAR_ERROR_STATE_MISMATCH, "metric");
  refused(filled("Flat", POLAR_METRIC_L2, false), POLAR_ERROR_STATE_MISMATCH, "IndexPolar");
  refused(filled("Polar4", POLAR_METRIC_L2, true), POLAR_ERROR_BAD_ARGUMENT, "ids of the caller's");
  const IndexHandle own_mean = make_index("Polar4", kDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(own_mean.get(), 200, row(0), nullptr));
  require_ok(polar_index_add(own_mean.get(), 1, row(0), nullptr));
  refused(own_mean, POLAR_ERROR_STATE_MISMATCH, "centre");
}

// The rule of docs/c_api.md, "Adding while searching": a reader-writer lock is enough. The thread
// sanitizer sees what it would not protect.
TEST_CASE("rows are added and removed while others search, behind a reader-writer lock",
          "[capi][changes][threads]") {
  const char* description = GENERATE("Polar2", "Polar8", "IVF4,Polar2", "IVF4,Polar8",
                                     "PCA8,IVF4,Polar4", "IDMap2,Polar4");
  INFO(description);
  const IndexHandle index = filled(description, POLAR_METRIC_L2, true, 0, 200);
  std::shared_mutex lock;
  std::mutex door;  // who waits to change holds it, so that readers do not keep him out
  std::atomic<bool> is_done{false};
  std::atomic<int> searches{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      std::vector<float> scores(20);
      std::vector<int64_t> ids(20);
      std::vector<float> x(kDim);
      polar_search_options options;
      polar_search_options_init(&options);
      options.num_threads = 2;
      if (std::string(description).find("IVF") != std::string::npos) options.nprobe = 3;
      do {
        std::unique_lock<std::mutex> turn(door);
        const std::shared_lock<std::shared_mutex> shared(lock);
        turn.unlock();
        // Row 3 is always there; what it was coded to may be nearer to another's query.
        const bool found = polar_index_search(index.get(), 2, row(3), 10, &options, scores.data(),
                                              ids.data()) == POLAR_OK &&
                           std::find(ids.begin(), ids.begin() + 10, 1009) != ids.begin() + 10 &&
                           polar_index_reconstruct(index.get(), 1009, x.data()) == POLAR_OK &&
                           polar_index_ntotal(index.get()) >= 200;
        wrong += found ? 0 : 1;
        ++searches;
      } while (!is_done);
    });
  }
  bool all_ok = true;
  for (int64_t first = 200; first < kRows; first += 20) {
    while (searches < first / 20) std::this_thread::yield();
    std::vector<int64_t> ids;
    for (int64_t i = first; i < first + 20; ++i) ids.push_back(1000 + 3 * i);
    const std::lock_guard<std::mutex> turn(door);
    const std::lock_guard<std::shared_mutex> alone(lock);
    all_ok =
        all_ok &&
        polar_index_add_with_ids(index.get(), 20, row(first), ids.data(), nullptr) == POLAR_OK &&
        polar_index_remove(index.get(), 5, ids.data(), nullptr) == POLAR_OK;
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(all_ok);
  CHECK(wrong == 0);
  CHECK(polar_index_ntotal(index.get()) == kRows - 50);
}

TEST_CASE("calls on const handles run together between changes", "[capi][changes]") {
  const char* description = GENERATE("Polar2", "IVF4,Polar2");
  INFO(description);
  const bool can_update = std::string(description) == "Polar2";
  const IndexHandle index = filled(description, POLAR_METRIC_L2, true, 0, 300);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        std::vector<float> scores(20);
        std::vector<int64_t> ids(20);
        int64_t lims[3];
        for (int repeat = 0; repeat < 5; ++repeat) {
          polar_index_search(index.get(), 2, rows().data(), 10, nullptr, scores.data(), ids.data());
          polar_index_range_search(index.get(), 2, rows().data(), 20, nullptr, 20, lims,
                                   scores.data(), ids.data());
          polar_index_reconstruct(index.get(), 1006, scores.data());
        }
      });
    }
    for (std::thread& reader : readers) reader.join();
    const int64_t id = 1000 + 3 * (300 + round);
    require_ok(polar_index_add_with_ids(index.get(), 1, row(300 + round), &id, nullptr));
    if (can_update) require_ok(polar_index_update(index.get(), 1, &id, row(2), nullptr));
    const int64_t gone = 1000 + 3 * round;
    require_ok(polar_index_remove(index.get(), 1, &gone, nullptr));
  }
  CHECK(polar_index_ntotal(index.get()) == 300);
}
