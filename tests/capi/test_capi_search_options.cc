// SPDX-License-Identifier: MIT
// Each search option on each kind of index: it works, or is refused by name. A table of kinds with
// what each can do; what a filter must leave is worked out from the same search without one.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 600;
constexpr int64_t kQueries = 4;
constexpr int64_t kK = 10;

enum Kind { flat, lists, graph };
enum Can : unsigned { filters = 1, ranges = 2, refines = 4, takes_nprobe = 8 };

struct Row {
  const char* description;
  Kind kind;
  unsigned can;
};

constexpr Row kTable[] = {
    {"Polar4", flat, filters | ranges},
    {"PolarScalar4", flat, filters | ranges},
    {"IVF8,Polar4", lists, filters | ranges | takes_nprobe},
    {"HNSW16,Polar4", graph, filters | ranges},
    {"NSG16,Polar4", graph, filters | ranges},
    {"Polar2,RFlat", flat, filters | ranges | refines},
    {"IVF8,Polar2,Refine(Polar8)", lists, filters | ranges | refines | takes_nprobe},
    {"PCA8,IDMap2,Polar4", flat, filters | ranges},
    {"Flat", flat, filters | ranges},
    {"SQ8", flat, filters},
    {"PQ4x4", flat, filters},
    {"IVF8,Flat", lists, filters | ranges | takes_nprobe},
    {"IVF8,SQ8", lists, filters | ranges | takes_nprobe},
    {"IVF8,PQ4x4", lists, filters | ranges | takes_nprobe},
    {"IVF8,PQ4x4fs", lists, 0},
    {"HNSW16,Flat", graph, filters},
    {"HNSW16,SQ8", graph, filters},
    {"NSG16,Flat", graph, filters},
    {"Flat,RFlat", flat, filters | ranges | refines},
    {"PQ4x4,RFlat", flat, filters | refines},
    {"IVF8,PQ4x4,RFlat", lists, filters | ranges | refines | takes_nprobe},
    {"IDMap2,HNSW16,Flat", graph, filters},
    {"IDMap2,NSG16,Flat", graph, filters},
    {"PCA8,Flat", flat, filters | ranges},
    {"PCA8,IVF8,Flat", lists, filters | ranges | takes_nprobe},
    {"PCA8,IDMap2,Flat", flat, filters | ranges},
};

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(kRows, kDim, 3);
  return values;
}

IndexHandle filled(const Row& kind, polar_metric metric) {
  IndexHandle index = make_index(kind.description, kDim, metric);
  require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
  require_ok(polar_index_add(index.get(), kRows, rows().data(), nullptr));
  return index;
}

polar_search_options defaults(const Row& kind) {
  polar_search_options options;
  polar_search_options_init(&options);
  if (kind.kind != graph) options.exactness = kInfinity;
  if ((kind.can & takes_nprobe) != 0) options.nprobe = 8;
  if (kind.kind == graph) options.ef_search = kRows;
  return options;
}

struct Found {
  std::vector<int64_t> lims;
  std::vector<float> scores;
  std::vector<int64_t> ids;
};

polar_status search(const IndexHandle& index, int64_t k, const polar_search_options& options,
                    Found* found) {
  found->scores.assign(static_cast<size_t>(kQueries * k), 0);
  found->ids.assign(found->scores.size(), -7);
  return polar_index_search(index.get(), kQueries, rows().data(), k, &options, found->scores.data(),
                            found->ids.data());
}

polar_status range_search(const IndexHandle& index, float radius,
                          const polar_search_options& options, Found* found) {
  found->lims.assign(kQueries + 1, 0);
  const auto call = [&] {
    return polar_index_range_search(index.get(), kQueries, rows().data(), radius, &options,
                                    static_cast<int64_t>(found->ids.size()), found->lims.data(),
                                    found->scores.data(), found->ids.data());
  };
  found->ids.clear();
  found->scores.clear();
  const polar_status counted = call();
  if (counted != POLAR_OK) return counted;
  found->ids.resize(static_cast<size_t>(found->lims.back()));
  found->scores.resize(found->ids.size());
  return call();
}

/// A filter of each kind over the same ids: every third one from 30 to 500.
bool kept(int64_t id) { return id >= 30 && id < 500 && id % 3 == 0; }

struct Filters {
  std::vector<uint64_t> bits = std::vector<uint64_t>(8);
  std::vector<int64_t> ids;

  Filters() {
    for (int64_t id = 0; id < 500; ++id) {
      if (!kept(id)) continue;
      bits[static_cast<size_t>(id / 64)] |= uint64_t{1} << (id % 64);
      ids.push_back(id);
    }
  }
  polar_filter filter(polar_filter_kind kind) const {
    polar_filter filter = filter_of(kind);
    filter.bitset = {bits.data(), 500};
    filter.ids = {ids.data(), static_cast<int64_t>(ids.size())};
    filter.range = {30, 500};
    filter.callback = {[](void*, int64_t id) { return kept(id) ? 1 : 0; }, nullptr};
    return filter;
  }
};

bool passes(polar_filter_kind kind, int64_t id) {
  return kind == POLAR_FILTER_RANGE ? id >= 30 && id < 500 : kept(id);
}

/// A filter, and the kind that says what it keeps.
struct GivenFilter {
  polar_filter_kind kind;
  polar_filter filter;
};

/// Filters of all kinds, prepared ones too.
class AllFilters {
 public:
  AllFilters() {
    for (const polar_filter_kind kind :
         {POLAR_FILTER_BITSET, POLAR_FILTER_IDS, POLAR_FILTER_RANGE, POLAR_FILTER_CALLBACK}) {
      given_.push_back({kind, values_.filter(kind)});
      if (kind == POLAR_FILTER_CALLBACK) continue;
      prepared_.push_back(prepared_filter(values_.filter(kind)));
      given_.push_back({kind, filter_of(prepared_.back())});
    }
  }
  const std::vector<GivenFilter>& given() const { return given_; }

 private:
  Filters values_;
  std::vector<PreparedFilterHandle> prepared_;
  std::vector<GivenFilter> given_;
};

void check_filtered_search(const Row& row, const IndexHandle& index) {
  polar_search_options options = defaults(row);
  const AllFilters all_filters;
  if (row.can == 0) options.nprobe = 0;
  // A refinement scores again what its first index finds: all, for both to be over the same rows.
  if ((row.can & refines) != 0) options.k_factor = kRows;
  Found all;
  require_ok(search(index, kRows, options, &all));
  for (const GivenFilter& given : all_filters.given()) {
    const polar_filter_kind kind = given.kind;
    INFO("filter " << given.filter.kind << ", of kind " << kind);
    options.filter = &given.filter;
    Found found;
    if ((row.can & filters) == 0) {
      check_failed(search(index, kK, options, &found), POLAR_ERROR_UNSUPPORTED, {"options.filter"});
      continue;
    }
    require_ok(search(index, kK, options, &found));
    for (int64_t query = 0; query < kQueries; ++query) {
      std::vector<float> expected;
      for (int64_t i = query * kRows; i < (query + 1) * kRows; ++i) {
        const int64_t id = all.ids[static_cast<size_t>(i)];
        if (id >= 0 && passes(kind, id)) expected.push_back(all.scores[static_cast<size_t>(i)]);
      }
      REQUIRE(expected.size() >= static_cast<size_t>(kK));
      for (int64_t i = 0; i < kK; ++i) {
        const auto at = static_cast<size_t>(query * kK + i);
        CHECK(passes(kind, found.ids[at]));
        // By score, since rows of equal codes may stand in either order; sums may be in another
        // order, too, and searches of our codes choose by int8 values.
        const bool has_levels = std::string(row.description).find("Polar") != std::string::npos;
        const double margin = has_levels ? 0.5 : 1e-4;
        CHECK(found.scores[at] ==
              Approx(expected[static_cast<size_t>(i)]).epsilon(1e-4).margin(margin));
      }
    }
  }
}

void check_filtered_range(const Row& row, const IndexHandle& index, polar_metric metric) {
  polar_search_options options = defaults(row);
  const AllFilters all_filters;
  const float radius = metric == POLAR_METRIC_L2 ? 25.0F : 0.5F;
  Found all;
  const polar_status status = range_search(index, radius, options, &all);
  if ((row.can & ranges) == 0) {
    check_failed(status, POLAR_ERROR_UNSUPPORTED, {"range"});
    return;
  }
  require_ok(status);
  REQUIRE(all.ids.size() > 50);
  for (const GivenFilter& given : all_filters.given()) {
    const polar_filter_kind kind = given.kind;
    INFO("filter " << given.filter.kind << ", of kind " << kind);
    options.filter = &given.filter;
    Found found;
    require_ok(range_search(index, radius, options, &found));
    for (int64_t query = 0; query < kQueries; ++query) {
      const auto ids_of_query = [query](const Found& from) {
        return std::vector<int64_t>(from.ids.begin() + from.lims[static_cast<size_t>(query)],
                                    from.ids.begin() + from.lims[static_cast<size_t>(query) + 1]);
      };
      std::vector<int64_t> expected = ids_of_query(all);
      expected.erase(std::remove_if(expected.begin(), expected.end(),
                                    [kind](int64_t id) { return !passes(kind, id); }),
                     expected.end());
      std::vector<int64_t> ids = ids_of_query(found);
      std::sort(expected.begin(), expected.end());
      std::sort(ids.begin(), ids.end());
      CHECK(ids == expected);
    }
  }
}

/// An option that changes what is found, or is refused by its name.
void check_option(const Row& row, const IndexHandle& index, bool works, const char* name,
                  const std::function<void(polar_search_options*)>& set) {
  INFO(name);
  polar_search_options options;
  polar_search_options_init(&options);
  set(&options);
  Found found;
  const polar_status status = search(index, kK, options, &found);
  if (works) {
    require_ok(status);
    CHECK(std::count(found.ids.begin(), found.ids.end(), -1) == 0);
  } else {
    check_failed(status, POLAR_ERROR_UNSUPPORTED, {name});
  }
  if ((row.can & ranges) != 0 && !works)
    check_failed(range_search(index, 1, options, &found), POLAR_ERROR_UNSUPPORTED, {name});
}

}  // namespace

TEST_CASE("each search option works on each kind of index or is refused by name",
          "[capi][options]") {
  for (const Row& row : kTable) {
    for (const polar_metric metric : {POLAR_METRIC_L2, POLAR_METRIC_INNER_PRODUCT}) {
      INFO(row.description << ", metric " << metric);
      const IndexHandle index = filled(row, metric);
      check_filtered_search(row, index);
      check_filtered_range(row, index, metric);
      check_option(row, index, (row.can & takes_nprobe) != 0, "options.nprobe",
                   [](polar_search_options* options) { options->nprobe = 8; });
      check_option(row, index, row.kind == graph, "options.ef_search",
                   [](polar_search_options* options) { options->ef_search = 32; });
      check_option(row, index, row.kind != graph, "options.exactness",
                   [](polar_search_options* options) { options->exactness = 4; });
      check_option(row, index, (row.can & refines) != 0, "options.k_factor",
                   [](polar_search_options* options) { options->k_factor = 3; });
    }
  }
}

TEST_CASE("ef_search raises the recall of every graph", "[capi][options]") {
  const std::vector<float> many = normal_rows(2000, 32, 5);
  const auto share_found = [&](const IndexHandle& index, const std::vector<int64_t>& exact,
                               int64_t ef_search) {
    polar_search_options options;
    polar_search_options_init(&options);
    options.ef_search = ef_search;
    std::vector<float> scores(1000);
    std::vector<int64_t> ids(1000);
    require_ok(
        polar_index_search(index.get(), 100, many.data(), 10, &options, scores.data(), ids.data()));
    int64_t matches = 0;
    for (size_t i = 0; i < 1000; ++i) {
      const auto expected = exact.begin() + static_cast<ptrdiff_t>(i / 10 * 10);
      matches += std::count(expected, expected + 10, ids[i]);
    }
    return static_cast<double>(matches) / 1000;
  };
  for (const char* rows : {"Flat", "Polar8"}) {
    const IndexHandle flat_index = make_index(rows, 32, POLAR_METRIC_L2);
    require_ok(polar_index_add(flat_index.get(), 2000, many.data(), nullptr));
    std::vector<float> scores(1000);
    std::vector<int64_t> exact(1000);
    require_ok(polar_index_search(flat_index.get(), 100, many.data(), 10, nullptr, scores.data(),
                                  exact.data()));
    for (const std::string graph_name : {"HNSW16,", "NSG16,", "IDMap2,HNSW16,"}) {
      const std::string description = graph_name + rows;
      INFO(description);
      const IndexHandle index = make_index(description.c_str(), 32, POLAR_METRIC_L2);
      require_ok(polar_index_add(index.get(), 2000, many.data(), nullptr));
      const double few = share_found(index, exact, 10);
      const double more = share_found(index, exact, 40);
      const double most = share_found(index, exact, 1000);
      CHECK(more > few + 0.02);
      CHECK(most > more);
      CHECK(most > 0.98);
    }
  }
}

TEST_CASE("a search of FAISS's graph for more rows than it has ends", "[capi][options]") {
  for (const char* description : {"NSG16,Flat", "HNSW16,Flat"}) {
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(polar_index_add(index.get(), kRows, rows().data(), nullptr));
    std::vector<float> scores(kRows + 50);
    std::vector<int64_t> ids(kRows + 50);
    require_ok(polar_index_search(index.get(), 1, rows().data(), kRows + 50, nullptr, scores.data(),
                                  ids.data()));
    CHECK(std::count(ids.begin(), ids.end(), -1) == 50);
  }
}

TEST_CASE("searches of FAISS's indexes tell their progress, and stop", "[capi][options]") {
  struct Heard {
    std::vector<double> shares;
    bool stop = false;
  };
  for (const char* description : {"Flat", "SQ8", "PQ4x4", "IVF8,Flat", "HNSW16,Flat", "NSG16,Flat",
                                  "Flat,RFlat", "HNSW16,Polar4", "NSG16,Polar4"}) {
    INFO(description);
    const Row row = {description, flat, 0};
    const IndexHandle index = filled(row, POLAR_METRIC_L2);
    Heard heard;
    polar_search_options options;
    polar_search_options_init(&options);
    options.progress_user = &heard;
    options.progress = [](void* user, double done) {
      auto* to = static_cast<Heard*>(user);
      to->shares.push_back(done);
      return to->stop ? 1 : 0;
    };
    Found found;
    require_ok(search(index, kK, options, &found));
    CHECK(!heard.shares.empty());
    CHECK(std::is_sorted(heard.shares.begin(), heard.shares.end()));
    heard.stop = true;
    check_failed(search(index, kK, options, &found), POLAR_ERROR_CANCELLED, {"search"});
  }
}

TEST_CASE("an inverted file returns k rows wherever a filter keeps k", "[capi][options]") {
  for (const char* description :
       {"IVF16,Polar4", "PCA8,IVF16,Polar2", "IVF16,Polar2,Refine(Polar8)"}) {
    const IndexHandle index = filled({description, lists, 0}, POLAR_METRIC_L2);
    for (const int64_t count : {1, 7, 10, 12, 100}) {
      INFO(description << ", ids " << count);
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < count; ++i) ids.push_back(5 + i * 590 / count);
      const polar_filter filter = id_list_filter(ids.data(), count);
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = kInfinity;
      options.nprobe = 1;
      options.filter = &filter;
      Found found;
      require_ok(search(index, kK, options, &found));
      options.nprobe = 16;
      Found all;
      require_ok(search(index, kK, options, &all));
      for (int64_t q = 0; q < kQueries; ++q) {
        const int64_t wanted = std::min(count, kK);
        for (int64_t i = 0; i < kK; ++i) {
          const int64_t id = found.ids[static_cast<size_t>(q * kK + i)];
          CHECK((i < wanted ? std::binary_search(ids.begin(), ids.end(), id) : id == -1));
        }
      }
      if (count <= kK) CHECK(found.ids == all.ids);
      if (count <= kK) CHECK(found.scores == all.scores);
    }
    // Without a filter nprobe is what it was.
    polar_search_options options;
    polar_search_options_init(&options);
    options.nprobe = 1;
    Found few;
    require_ok(search(index, 500, options, &few));
    CHECK(few.ids.back() == -1);
  }
}
