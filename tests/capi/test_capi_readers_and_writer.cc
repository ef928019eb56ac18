// SPDX-License-Identifier: MIT
// Searches beside a thread that adds, changes and removes rows: each finds rows as they were before
// a change or after it, and none is kept waiting while rows are coded.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 64;
constexpr int64_t kRows = 1500;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(2 * kRows, kDim, 8);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }

IndexHandle filled(const std::string& description) {
  IndexHandle index = make_index(description.c_str(), kDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(index.get(), kRows, row(0), nullptr));
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = i;
  require_ok(polar_index_add_with_ids(index.get(), kRows, row(0), ids.data(), nullptr));
  return index;
}

/// A search and other questions, whatever happens beside; what is wrong, or "".
std::string ask(const IndexHandle& index, const polar_filter* filter, int64_t i) {
  constexpr int64_t kK = 5;
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 1;
  options.filter = filter;
  float scores[kK];
  int64_t ids[kK];
  // Row 0 is never changed, and nearest to itself.
  const int64_t wanted = i % 2 == 0 ? 0 : i % kRows;
  if (polar_index_search(index.get(), 1, row(wanted), kK, &options, scores, ids) != POLAR_OK)
    return "a search failed: " + last_error();
  if (wanted == 0 && ids[0] != 0) return "a search did not find row 0";
  for (int64_t rank = 0; rank < kK; ++rank) {
    if (ids[rank] < 0 || ids[rank] >= 2 * kRows || (rank > 0 && scores[rank] < scores[rank - 1]))
      return "a search found id " + std::to_string(ids[rank]);
  }
  std::vector<float> x(kDim);
  if (polar_index_reconstruct(index.get(), 0, x.data()) != POLAR_OK) return "row 0 is gone";
  polar_index_info info = {};
  info.struct_size = sizeof info;
  size_t bytes = 0;
  if (polar_index_get_info(index.get(), &info) != POLAR_OK || info.ntotal < kRows / 2 ||
      polar_index_memory_bytes(index.get(), &bytes) != POLAR_OK)
    return "the index does not tell what it is";
  return polar_index_ntotal(index.get()) < kRows / 2 ? "rows are lost" : "";
}

}  // namespace

TEST_CASE("searches run beside changes of every kind", "[capi][threads]") {
  for (const char* description :
       {"Polar4", "IVF4,Polar4", "Polar1", "IDMap2,Polar2", "PCA32,IVF4,Polar4", "IVF4,Flat"}) {
    INFO(description);
    const IndexHandle index = filled(description);
    const bool upserts = std::string(description).find("IDMap2") == std::string::npos &&
                         std::string(description).find("Flat") == std::string::npos;
    const PreparedFilterHandle prepared = prepared_filter(range_filter(0, 2 * kRows));
    const polar_filter kept = filter_of(prepared);
    std::atomic<bool> stop{false};
    std::vector<std::string> wrong(2);
    std::vector<std::thread> readers;
    for (size_t reader = 0; reader < wrong.size(); ++reader) {
      readers.emplace_back([&, reader] {
        for (int64_t i = 0; !stop && wrong[reader].empty(); ++i)
          wrong[reader] = ask(index, reader == 0 ? nullptr : &kept, i);
      });
    }
    for (int64_t round = 0; round < 60; ++round) {
      const int64_t first = kRows + 20 * round;
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < 20; ++i) ids.push_back(first + i);
      require_ok(polar_index_add_with_ids(index.get(), 20, row(first), ids.data(), nullptr));
      if (upserts) {
        ids[0] = 1 + round;
        require_ok(polar_index_upsert(index.get(), 20, ids.data(), row(first), nullptr));
        require_ok(polar_index_update(index.get(), 1, ids.data(), row(ids[0]), nullptr));
      }
      if (std::string(description).find("IDMap2") == std::string::npos || round == 0)
        require_ok(polar_index_remove(index.get(), 10, ids.data() + 10, nullptr));
    }
    stop = true;
    for (std::thread& reader : readers) reader.join();
    CHECK(wrong == std::vector<std::string>(2));
  }
}

TEST_CASE("a search does not wait for rows that are being coded", "[capi][threads]") {
  for (const char* description : {"Polar4", "IVF4,Polar4"}) {
    INFO(description);
    IndexHandle index = filled(description);
    struct Asked {
      const IndexHandle& index;
      int searches = 0;
      std::string wrong = {};
    } asked = {index};
    polar_work_options options;
    polar_work_options_init(&options);
    options.num_threads = 1;
    options.progress_user = &asked;
    options.progress = [](void* user, double done) -> int32_t {
      auto& here = *static_cast<Asked*>(user);
      if (done >= 1 || here.searches > 2) return 0;
      ++here.searches;
      // Another thread's, which would wait for ever.
      std::thread([&here] { here.wrong += ask(here.index, nullptr, 0); }).join();
      return 0;
    };
    const int64_t n = 40'000;
    const std::vector<float> many = normal_rows(n, kDim, 9);
    std::vector<int64_t> ids(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) ids[static_cast<size_t>(i)] = 2 * kRows + i;
    require_ok(polar_index_add_with_ids(index.get(), n, many.data(), ids.data(), &options));
    CHECK(asked.searches > 0);
    CHECK(asked.wrong.empty());
  }
}

TEST_CASE("a callback reads the index that calls it, and cannot change it", "[capi][threads]") {
  const IndexHandle index = filled("Polar4");
  struct Asked {
    polar_index* index;
    int64_t ntotal = 0;
    polar_status changed = POLAR_OK;
  } asked = {index.get()};
  polar_search_options options;
  polar_search_options_init(&options);
  const polar_filter filter = callback_filter(
      [](void* user, int64_t) -> int32_t {
        auto& here = *static_cast<Asked*>(user);
        here.ntotal = polar_index_ntotal(here.index);
        const int64_t id = 3;
        here.changed = polar_index_remove(here.index, 1, &id, nullptr);
        return 1;
      },
      &asked);
  options.filter = &filter;
  options.num_threads = 1;
  float score = 0;
  int64_t id = 0;
  require_ok(polar_index_search(index.get(), 1, row(5), 1, &options, &score, &id));
  CHECK(asked.ntotal == kRows);
  CHECK(asked.changed == POLAR_ERROR_BAD_ARGUMENT);
  CHECK(polar_index_ntotal(index.get()) == kRows);
}

TEST_CASE("indexes are merged into each other by two threads", "[capi][threads]") {
  const IndexHandle a = filled("Polar4");
  polar_index* made = nullptr;
  require_ok(polar_index_clone(a.get(), &made));
  const IndexHandle b(made);
  const polar_filter all = range_filter(0, 2 * kRows);
  require_ok(polar_index_remove_filtered(b.get(), &all, nullptr));
  std::vector<polar_status> statuses(2);
  std::thread there([&] {
    for (int i = 0; i < 200 && statuses[0] == POLAR_OK; ++i)
      statuses[0] = polar_index_merge(a.get(), b.get(), nullptr);
  });
  for (int i = 0; i < 200 && statuses[1] == POLAR_OK; ++i)
    statuses[1] = polar_index_merge(b.get(), a.get(), nullptr);
  there.join();
  CHECK(statuses == std::vector<polar_status>(2, POLAR_OK));
  CHECK(polar_index_ntotal(a.get()) + polar_index_ntotal(b.get()) == kRows);
}
