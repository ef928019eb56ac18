// SPDX-License-Identifier: MIT
// HNSW and NSG over polar codes: what they find, and that what they return is Codec::score.
#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/call_threads.h"
#include "src/core/threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/row_changes.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"
#include "tests/support/forked_child.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 70;
constexpr int64_t kRows = 800;
constexpr int64_t kK = 10;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(20, kDim, 2);
  return values;
}

std::unique_ptr<::faiss::Index> filled(const std::string& description, ::faiss::MetricType metric) {
  auto index = index_factory(kDim, description, metric);
  index->train(kRows, rows().data());
  index->add(kRows, rows().data());
  return index;
}

TEST_CASE("HNSW finds what a flat search of the same codes does, with its scores",
          "[faiss][graph]") {
  const std::string spec =
      GENERATE("Polar1", "Polar2", "Polar4", "Polar8", "Polar4+2", "Polar2-pca", "PolarScalar4");
  const ::faiss::MetricType metric = GENERATE(::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2);
  CAPTURE(spec, static_cast<int>(metric));
  const auto flat = filled(spec, metric);
  const auto index = filled("HNSW16," + spec, metric);
  auto* graph = dynamic_cast<::faiss::IndexHNSW*>(index.get());
  REQUIRE(graph != nullptr);
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  const Found expected = find(*flat, queries(), kK, &exact);
  // The storage, searched itself, is the flat index.
  CHECK(find(*graph->storage, queries(), kK, &exact) == expected);

  ::faiss::SearchParametersHNSW wide;
  wide.efSearch = 200;
  const Found found = find(*index, queries(), kK, &wide);
  CHECK(recall(found, expected, kK) > .95);
  const std::unique_ptr<::faiss::DistanceComputer> flat_computer(flat->get_distance_computer());
  for (size_t i = 0; i < found.labels.size(); ++i) {
    if (i % kK == 0) flat_computer->set_query(queries().data() + i / kK * kDim);
    REQUIRE(found.labels[i] >= 0);
    CHECK(found.distances[i] == (*flat_computer)(found.labels[i]));
  }
  graph->hnsw.efSearch = 200;
  CHECK(find(*index, queries(), kK) == found);
  graph->hnsw.efSearch = 1;
  CHECK(find(*index, queries(), kK, &wide) == found);

  // Scores by int8 values, which order the graph's search, lie near Codec::score, and pairs are
  // symmetric.
  const std::unique_ptr<::faiss::DistanceComputer> computer(
      graph->storage->get_distance_computer());
  computer->set_query(queries().data());
  flat_computer->set_query(queries().data());
  for (int64_t i = 0; i < 30; ++i) {
    const float score = (*flat_computer)(i);
    CHECK(std::fabs((*computer)(i)-score) < .03F * (30 + std::fabs(score)));
    CHECK(computer->symmetric_dis(i, i + 1) == computer->symmetric_dis(i + 1, i));
    CHECK(computer->symmetric_dis(3, i) == computer->symmetric_dis(i, 3));
    CHECK(std::fabs(computer->symmetric_dis(i, 7) - flat_computer->symmetric_dis(i, 7)) <
          .03F * (30 + std::fabs(flat_computer->symmetric_dis(i, 7))));
  }
}

TEST_CASE("Graph searches honour selectors, threads, transforms and id maps", "[faiss][graph]") {
  const auto index = filled("HNSW16,Polar4", ::faiss::METRIC_L2);
  ::faiss::IDSelectorRange range(200, 500);
  ::faiss::SearchParametersHNSW params;
  params.efSearch = 400;
  params.sel = &range;
  const Found chosen = find(*index, queries(), kK, &params);
  const Found expected = find(*filled("Polar4", ::faiss::METRIC_L2), queries(), kK, &params);
  for (const int64_t label : chosen.labels) CHECK(range.is_member(label));
  CHECK(recall(chosen, expected, kK) > .95);
  const int before = polarquant::default_threads();
  const Found found = find(*index, queries(), kK);
  polarquant::set_default_threads(3);
  CHECK(find(*index, queries(), kK) == found);
  polarquant::set_default_threads(before);
  CHECK(run_in_child([&] { return find(*index, queries(), kK) == found; }) == ChildEnd::right);

  auto mapped = index_factory(kDim, "IDMap2,HNSW16,Polar4", ::faiss::METRIC_L2);
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 5 * i;
  mapped->train(kRows, rows().data());
  mapped->add_with_ids(kRows, rows().data(), ids.data());
  ::faiss::IDSelectorRange mapped_range(1000, 2500);
  params.sel = &mapped_range;
  for (const int64_t label : find(*mapped, queries(), kK, &params).labels)
    CHECK((label % 5 == 0 && mapped_range.is_member(label)));
  const auto refined = filled("PCA48,HNSW16_Polar4,RFlat", ::faiss::METRIC_INNER_PRODUCT);
  CHECK(find(*refined, queries(), kK).labels[0] >= 0);
}

/// A class of a caller's, which is asked row by row.
struct EveryNth final : ::faiss::IDSelector {
  explicit EveryNth(int64_t step) : step_(step) {}
  bool is_member(int64_t row) const override { return row % step_ == 0; }

 private:
  int64_t step_;
};

TEST_CASE("Graph searches find k rows wherever a filter keeps as many", "[faiss][graph]") {
  const std::string description = GENERATE("HNSW16,Polar4", "NSG16,Polar4", "HNSW16,Polar3-pca");
  const auto index = filled(description, ::faiss::METRIC_L2);
  const auto flat = filled(description.substr(description.find(',') + 1), ::faiss::METRIC_L2);
  // Of a caller's class a walk is made before it is known how many rows it keeps.
  const auto check = [&](const ::faiss::IDSelector& selector, double least_recall) {
    ::faiss::SearchParameters params;
    params.sel = const_cast<::faiss::IDSelector*>(&selector);
    const Found expected = find(*flat, queries(), kK, &params);
    const Found found = find(*index, queries(), kK, &params);
    for (size_t i = 0; i < found.labels.size(); ++i)
      REQUIRE((found.labels[i] >= 0) == (expected.labels[i] >= 0));
    CHECK(recall(found, expected, kK) >= least_recall);
  };
  const std::vector<int64_t> ids = {3, 47, 100, 101, 102, 222, 303, 404, 505, 606, 707, 799};
  for (const size_t count : {0, 1, 9, 10, 12})
    check(::faiss::IDSelectorArray(count, ids.data()), .97);
  check(::faiss::IDSelectorRange(200, 330), .97);
  for (const int64_t step : {1000, 200, 70, 10}) check(EveryNth(step), .6);
}

TEST_CASE("Rows are linked as FAISS links them", "[faiss][graph]") {
  const ::faiss::MetricType metric = GENERATE(::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2);
  const std::vector<float>& x = rows();
  const CallThreads one_thread(1);
  const auto theirs = index_factory(kDim, "HNSW8,Flat", metric);
  const auto ours = index_factory(kDim, "HNSW8,Flat", metric);
  // The second batch changes links of the first.
  for (const auto& [first, end] : {std::pair<int64_t, int64_t>{0, 500}, {500, 501}, {501, kRows}}) {
    theirs->add(end - first, x.data() + first * kDim);
    add_rows(*ours, end - first, x.data() + first * kDim, nullptr);
  }
  const ::faiss::HNSW& a = dynamic_cast<const ::faiss::IndexHNSW&>(*theirs).hnsw;
  const ::faiss::HNSW& b = dynamic_cast<const ::faiss::IndexHNSW&>(*ours).hnsw;
  CHECK(a.levels == b.levels);
  CHECK(a.offsets == b.offsets);
  CHECK((a.entry_point == b.entry_point && a.max_level == b.max_level));
  REQUIRE(a.neighbors.size() == b.neighbors.size());
  // Releases of FAISS differ in how they add up distances, and walks of ours, which expand two
  // nodes at a time, see a few rows more. One other link moves those after it in its list.
  size_t same = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int level = 0; level < a.levels[static_cast<size_t>(row)]; ++level) {
      size_t begin = 0;
      size_t end = 0;
      a.neighbor_range(row, level, &begin, &end);
      const std::set<int> theirs_of_row(a.neighbors.data() + begin, a.neighbors.data() + end);
      for (size_t i = begin; i < end; ++i) same += theirs_of_row.count(b.neighbors[i]);
    }
  }
  INFO(same << " of " << a.neighbors.size());
  CHECK(same * 1000 >= a.neighbors.size() * 995);
}

TEST_CASE("Graphs find rows within a radius", "[faiss][graph][range]") {
  const std::string description =
      GENERATE("HNSW16,Polar4", "NSG32,Polar4", "HNSW16,PolarScalar4", "HNSW16,Polar2-pca");
  const ::faiss::MetricType metric = GENERATE(::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2);
  CAPTURE(description, static_cast<int>(metric));
  const auto index = filled(description, metric);
  const auto flat = filled(description.substr(description.find(',') + 1), metric);
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  const auto nq = std::ssize(queries()) / kDim;
  // Few rows, a tenth, and all.
  const Found nearest = find(*flat, queries(), kRows, &exact);
  for (const int64_t rank : {3, 80, int{kRows}}) {
    const float radius = rank == kRows ? (metric == ::faiss::METRIC_L2 ? 1 : -1) *
                                             std::numeric_limits<float>::infinity()
                                       : nearest.distances[static_cast<size_t>(rank)];
    ::faiss::RangeSearchResult found(static_cast<size_t>(nq));
    ::faiss::RangeSearchResult expected(static_cast<size_t>(nq));
    index->range_search(nq, queries().data(), radius, &found);
    flat->range_search(nq, queries().data(), radius, &expected, &exact);
    size_t both = 0;
    for (size_t q = 0; q < static_cast<size_t>(nq); ++q) {
      const auto* first = expected.labels + expected.lims[q];
      const auto* last = expected.labels + expected.lims[q + 1];
      for (size_t i = found.lims[q]; i < found.lims[q + 1]; ++i) {
        const auto* same = std::find(first, last, found.labels[i]);
        REQUIRE(same != last);  // nothing beyond the radius
        REQUIRE(std::abs(expected.distances[same - expected.labels] - found.distances[i]) < 1e-3F);
        ++both;
      }
    }
    CAPTURE(rank);
    CHECK(static_cast<double>(both) >=
          .95 * static_cast<double>(expected.lims[static_cast<size_t>(nq)]));
  }
  // A filter leaves rows out, not ways: few rows, and half.
  for (const idx_t last : {idx_t{40}, idx_t{kRows / 2}}) {
    const ::faiss::IDSelectorRange some(0, last);
    ::faiss::SearchParameters params;
    params.sel = const_cast<::faiss::IDSelectorRange*>(&some);
    ::faiss::RangeSearchResult found(static_cast<size_t>(nq));
    index->range_search(nq, queries().data(), nearest.distances[80], &found, &params);
    ::faiss::RangeSearchResult all(static_cast<size_t>(nq));
    index->range_search(nq, queries().data(), nearest.distances[80], &all);
    const auto end = all.labels + all.lims[static_cast<size_t>(nq)];
    const auto allowed = std::count_if(all.labels, end, [&](idx_t id) { return id < last; });
    const auto kept = static_cast<int64_t>(found.lims[static_cast<size_t>(nq)]);
    CHECK(kept >= allowed - allowed / 20);
    CHECK(std::all_of(found.labels, found.labels + kept, [&](idx_t id) { return id < last; }));
  }
}

TEST_CASE("HNSW indexes begin empty and name what is wrong", "[faiss][graph]") {
  const auto index = index_factory(kDim, "HNSW8,Polar4", ::faiss::METRIC_INNER_PRODUCT);
  CHECK(find(*index, queries(), 3).labels == std::vector<int64_t>(60, -1));
  std::vector<float> wrong(rows().begin(), rows().begin() + 2 * kDim);
  wrong[kDim] = NAN;
  require_faiss_error("row 1 column 0 is nan", [&] { index->add(2, wrong.data()); });
  CHECK(index->ntotal == 0);
  index->add(5, rows().data());
  const Found found = find(*index, queries(), 8);
  CHECK(found.labels[4] >= 0);
  CHECK(found.labels[5] == -1);
  ::faiss::SearchParametersHNSW params;
  params.efSearch = 0;
  require_faiss_error("efSearch is 0", [&] { find(*index, queries(), 1, &params); });
  index->reset();
  CHECK(index->ntotal == 0);
  index->add(kRows, rows().data());
  CHECK(find(*index, queries(), 1).labels[0] >= 0);
  require_faiss_error("not trained", [&] {
    index_factory(kDim, "HNSW8,Polar4-pca", ::faiss::METRIC_L2)->add(5, rows().data());
  });
}

TEST_CASE("HNSW finds what it does, however many rows are equal", "[faiss][graph]") {
  // Half of the rows are equal, or all; and what was added at once, or in parts.
  const int64_t n = 1600;
  const int64_t batch = GENERATE(int64_t{1600}, int64_t{100});
  const std::string spec = GENERATE("Polar4", "Polar8");
  CAPTURE(batch, spec);
  std::vector<float> x = clustered_rows(n, kDim, 7);
  for (int64_t i = 1; i < n / 2; ++i) std::copy_n(x.data(), kDim, x.data() + i * kDim);
  const auto flat = index_factory(kDim, spec, ::faiss::METRIC_L2);
  const auto index = index_factory(kDim, "HNSW16," + spec, ::faiss::METRIC_L2);
  for (int64_t first = 0; first < n; first += batch) {
    flat->add(batch, x.data() + first * kDim);
    index->add(batch, x.data() + first * kDim);
  }
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  ::faiss::SearchParametersHNSW wide;
  wide.efSearch = 100;
  CHECK(recall(find(*index, queries(), kK, &wide), find(*flat, queries(), kK, &exact), kK) > .95);

  // Those that are equal are all found, and a file has them.
  wide.efSearch = static_cast<int>(n);
  const std::vector<float> equal(x.begin(), x.begin() + kDim);
  Found all = find(*index, equal, n / 2, &wide);
  std::sort(all.labels.begin(), all.labels.end());
  for (int64_t i = 0; i < n / 2; ++i) CHECK(all.labels[static_cast<size_t>(i)] == i);
  const auto again = clone_index(*index);
  CHECK(find(*again, queries(), kK, &wide) == find(*index, queries(), kK, &wide));
  again->add(100, x.data());
  CHECK(find(*again, equal, n / 2 + 100, &wide).labels.back() >= 0);
}

TEST_CASE("NSG finds what a flat search of the same codes does", "[faiss][graph]") {
  const auto flat = filled("Polar4", ::faiss::METRIC_L2);
  const auto index = filled("NSG16,Polar4", ::faiss::METRIC_L2);
  auto* graph = dynamic_cast<::faiss::IndexNSG*>(index.get());
  REQUIRE(graph != nullptr);
  graph->nsg.search_L = 200;
  const Found expected = find(*flat, queries(), kK);
  const Found found = find(*index, queries(), kK);
  CHECK(recall(found, expected, kK) > .9);
  ::faiss::IDSelectorRange range(200, 500);
  ::faiss::SearchParameters params;
  params.sel = &range;
  for (const int64_t label : find(*index, queries(), kK, &params).labels)
    CHECK(range.is_member(label));
  require_faiss_error("all rows at once", [&] { index->add(kRows, rows().data()); });
}

TEST_CASE("NSG says which rows and numbers FAISS cannot build by", "[faiss][graph]") {
  const auto index = index_factory(kDim, "NSG16,Polar4", ::faiss::METRIC_L2);
  auto& graph = dynamic_cast<::faiss::IndexNSG&>(*index);
  require_faiss_error("at least 65 are needed, for GK", [&] { index->add(64, rows().data()); });
  graph.nsg.search_L = 500;
  require_faiss_error("at least 500 are needed, for nsg.search_L",
                      [&] { index->add(400, rows().data()); });
  graph.nndescent_iter = 0;
  require_faiss_error("nndescent_iter is 0; 1 to 65536", [&] { index->add(kRows, rows().data()); });
  graph.nndescent_iter = 10;
  CHECK(index->ntotal == 0);
  index->add(kRows, rows().data());
  graph.nsg.search_L = 0;
  require_faiss_error("nsg.search_L is 0", [&] { find(*index, queries(), 1); });
  require_faiss_error("7 links; 8 to",
                      [] { index_factory(kDim, "NSG7,Polar4", ::faiss::METRIC_L2); });
}

}  // namespace
}  // namespace polarquant::test
