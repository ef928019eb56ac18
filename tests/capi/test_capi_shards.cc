// SPDX-License-Identifier: MIT
// Several files opened as one index answer, to the bit, as the file that they are merged into.
#include <string>
#include <thread>
#include <vector>

#include "tests/capi/shard_files.h"

using namespace polarquant::test;

namespace {

Found range_search(const IndexHandle& index, int64_t nq, float radius,
                   const polar_search_options& options) {
  std::vector<int64_t> lims(static_cast<size_t>(nq + 1));
  Found found{std::vector<float>(200'000), std::vector<int64_t>(200'000)};
  require_ok(polar_index_range_search(index.get(), nq, rows().row(500), radius, &options,
                                      std::ssize(found.ids), lims.data(), found.scores.data(),
                                      found.ids.data()));
  found.scores.resize(static_cast<size_t>(lims.back()));
  found.ids.resize(static_cast<size_t>(lims.back()));
  found.ids.insert(found.ids.end(), lims.begin(), lims.end());
  return found;
}

void check_same_answers(const Both& both) {
  for_each_search(both, [&](const polar_search_options& options, int64_t nq) {
    for (const int64_t k : {1, 10, 100}) {
      INFO("nq " << nq << ", k " << k);
      CHECK((search(both.shards, nq, k, options) == search(both.merged, nq, k, options)));
    }
  });
}

void check_same_radius(const Both& both, polar_metric metric) {
  std::vector<uint64_t> words;
  std::vector<int64_t> ids;
  const polar_search_options plain = searching_on(1);
  const Found nearest = search(both.merged, 1, 30, plain);
  const float radius = nearest.scores.back();
  for (const auto& [filter, prepared] : filters(words, ids)) {
    polar_search_options options = searching_on(2);
    options.filter = &filter;
    INFO("filter " << filter.kind << ", metric " << metric);
    CHECK((range_search(both.shards, 9, radius, options) ==
           range_search(both.merged, 9, radius, options)));
  }
}

TEST_CASE("shards answer as the file that they are merged into", "[capi][shards]") {
  for (const BuiltKind& kind : kBuiltKinds) {
    const std::string description = kind.description;
    if (description == "PolarScalar4" || description == "PolarTree4.2.2.2") continue;
    for (const bool with_ids : {false, true}) {
      if (with_ids ? !kind.takes_ids : !kind.takes_none) continue;
      INFO(description << ", with ids " << with_ids);
      const Both both(kind, POLAR_METRIC_L2, with_ids, {1000, 1001, 2300, 2300, 4500});
      CHECK(polar_index_ntotal(both.shards.get()) == 4500);
      require_ok(polar_index_verify(both.shards.get()));
      if (description.find("Refine") == std::string::npos) {
        check_same_answers(both);
        check_same_radius(both, POLAR_METRIC_L2);
      } else {
        const polar_search_options options = searching_on(1);
        CHECK((search(both.shards, kQueries, 10, options) ==
               search(both.merged, kQueries, 10, options)));
      }
    }
  }
}

TEST_CASE("shards answer alike by every metric, first a shard without rows", "[capi][shards]") {
  for (const polar_metric metric : {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_COSINE}) {
    for (const char* description : {"Polar2", "IVF7,Polar4"}) {
      INFO(description << ", metric " << metric);
      const Both both(BuiltKind{description}, metric, true, {0, 70, 3000, 3001});
      check_same_answers(both);
      check_same_radius(both, metric);
    }
  }
}

TEST_CASE("long lists and flat shards of many blocks answer alike", "[capi][shards]") {
  for (const char* description : {"Polar4", "IVF1,Polar2"}) {
    INFO(description);
    const IndexHandle trained = rows().trained(description, POLAR_METRIC_L2);
    const TemporaryFolder folder;
    std::vector<std::string> paths;
    for (const int64_t last : {61, 6000, 129}) {
      const IndexHandle piece = clone(trained);
      for (int repeat = 0; repeat < 12; ++repeat) rows().add(piece, false, 0, 6000);
      rows().add(piece, false, 0, last);
      paths.push_back(folder.file("piece" + std::to_string(paths.size())));
      save(piece, paths.back());
    }
    require_ok(merge(paths, folder.file("merged")));
    const IndexHandle merged = load(folder.file("merged"), 1);
    std::vector<const char*> names;
    for (const std::string& path : paths) names.push_back(path.c_str());
    polar_index* opened = nullptr;
    require_ok(polar_index_open_shards(3, names.data(), &opened));
    const IndexHandle shards(opened);
    for (const int64_t nq : {int64_t{1}, kQueries}) {
      // Each row is there many times: ties go to the lower one.
      const polar_search_options options = searching_on(2);
      CHECK((search(shards, nq, 50, options) == search(merged, nq, 50, options)));
    }
  }
}

TEST_CASE("threads search shards together", "[capi][shards]") {
  const Both both(BuiltKind{"IVF7,Polar4"}, POLAR_METRIC_L2, true, {1000, 1001, 2300, 4500});
  const polar_search_options options = searching_on(1);
  const Found expected = search(both.merged, kQueries, 10, options);
  const IndexHandle shards = both.open();
  std::vector<Found> found(4);
  std::vector<std::thread> threads;
  for (Found& one : found)
    threads.emplace_back([&] { one = search(shards, kQueries, 10, options); });
  for (std::thread& thread : threads) thread.join();
  for (const Found& one : found) CHECK((one == expected));
}

TEST_CASE("shards can be saved and cloned, and not changed", "[capi][shards]") {
  for (const char* description : {"Polar4", "IVF7,Polar4"}) {
    const Both both(BuiltKind{description}, POLAR_METRIC_L2, true, {1000, 1001, 2300});
    save(both.shards, both.folder.file("again"));
    CHECK((bytes_of(both.folder.file("again")) == bytes_of(both.folder.file("merged"))));
    const IndexHandle copy = clone(both.shards);
    const polar_search_options options = searching_on(1);
    CHECK((search(copy, kQueries, 10, options) == search(both.merged, kQueries, 10, options)));
    rows().add(copy, true, 2300, 2400);
    check_failed(polar_index_add_with_ids(both.shards.get(), 1, rows().row(0),
                                          BuiltRows::ids(5000, 5001).data(), nullptr),
                 POLAR_ERROR_UNSUPPORTED, {"memory-mapped"});
    const std::vector<int64_t> ids = BuiltRows::ids(0, 2300);
    std::vector<float> x(72);
    std::vector<float> wanted(72);
    for (const size_t row : {size_t{0}, size_t{1000}, size_t{2299}}) {
      require_ok(polar_index_reconstruct(both.shards.get(), ids[row], x.data()));
      require_ok(polar_index_reconstruct(both.merged.get(), ids[row], wanted.data()));
      CHECK(x == wanted);
    }
  }
}

TEST_CASE("shards that do not fit are refused", "[capi][shards]") {
  const Both both(BuiltKind{"IVF7,Polar4"}, POLAR_METRIC_L2, true, {1000, 2300});
  polar_index* out = nullptr;
  const auto open = [&](const std::vector<std::string>& paths) {
    std::vector<const char*> names;
    for (const std::string& path : paths) names.push_back(path.c_str());
    return polar_index_open_shards(static_cast<int64_t>(names.size()), names.data(), &out);
  };
  check_failed(open({}), POLAR_ERROR_BAD_ARGUMENT, {"n: 0"});
  check_failed(open({both.paths[0], both.folder.file("none")}), POLAR_ERROR_IO, {"none"});
  save(rows().trained("IVF7,Polar2", POLAR_METRIC_L2), both.folder.file("other"));
  check_failed(open({both.paths[0], both.folder.file("other")}), POLAR_ERROR_STATE_MISMATCH,
               {both.folder.file("other")});
  require_ok(open({both.paths[0], both.paths[1], both.paths[0]}));
  const IndexHandle twice(out);
  check_failed(polar_index_verify(twice.get()), POLAR_ERROR_BAD_ARGUMENT, {"there twice"});
  const Both published(BuiltKind{"PolarScalar4"}, POLAR_METRIC_L2, false, {500, 1000});
  float score = 0;
  int64_t id = 0;
  check_failed(
      polar_index_search(published.shards.get(), 1, rows().row(0), 1, nullptr, &score, &id),
      POLAR_ERROR_UNSUPPORTED, {"PolarScalar4", "merge the files"});
}

}  // namespace
