// SPDX-License-Identifier: MIT
// Rows that go from refinements and come in the place of others, and searches of them within a
// radius: against an index that was made of the rows that are left, and against the score of every
// row.
#include <faiss/IndexIVF.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/index_parts.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/composed_index.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Within {
  std::vector<size_t> lims;
  std::vector<float> scores;
  std::vector<int64_t> ids;

  bool operator==(const Within&) const = default;
};
Within find_within(const ::faiss::Index& index, const float* x, int64_t n, float radius,
                   const ::faiss::SearchParameters* params = nullptr) {
  ::faiss::RangeSearchResult result(static_cast<size_t>(n));
  index.range_search(n, x, radius, &result, params);
  const size_t total = result.lims[n];
  return {{result.lims, result.lims + n + 1},
          {result.distances, result.distances + total},
          {result.labels, result.labels + total}};
}

/// By the score of every row that keep lets through; ids are rows.
template <typename Keep>
Within expected_within(const ::faiss::IndexRefine& index, float radius, const Keep& keep) {
  const bool higher = index.metric_type == ::faiss::METRIC_INNER_PRODUCT;
  const std::unique_ptr<::faiss::DistanceComputer> scores(
      index.refine_index->get_distance_computer());
  Within found{{0}, {}, {}};
  for (int64_t q = 0; q < kQueries; ++q) {
    scores->set_query(queries().data() + q * kDim);
    std::vector<std::pair<float, int64_t>> rows;
    for (int64_t row = 0; row < index.ntotal; ++row) {
      const float score = (*scores)(row);
      if (keep(row) && (higher ? score > radius : score < radius))
        rows.emplace_back(higher ? -score : score, row);
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [key, row] : rows) {
      found.scores.push_back(higher ? -key : key);
      found.ids.push_back(row);
    }
    found.lims.push_back(found.ids.size());
  }
  return found;
}

::faiss::IndexRefine& as_refinement(::faiss::Index& index) {
  return dynamic_cast<::faiss::IndexRefine&>(index);
}

void look_at_all_lists(const ::faiss::Index& index) {
  auto* ivf =
      const_cast<::faiss::IndexIVF*>(dynamic_cast<const ::faiss::IndexIVF*>(&finding_index(index)));
  if (ivf != nullptr) ivf->nprobe = ivf->nlist;
}

void set_exactness(const ::faiss::Index& index, float exactness) {
  auto& finding = const_cast<::faiss::Index&>(finding_index(index));
  if (auto* polar = dynamic_cast<IndexPolar*>(&finding)) polar->exactness = exactness;
  if (auto* ivf = dynamic_cast<IndexIVFPolar*>(&finding)) ivf->exactness = exactness;
}

/// Of about a tenth of the rows.
float some_radius(const ::faiss::Index& index) {
  const Found best = find(index, queries(), 150);
  return best.distances[149];
}

TEST_CASE("A refinement's range_search finds what its refining codes say", "[faiss][range]") {
  const std::string description =
      GENERATE("Polar2,RFlat", "Polar2,Refine(Polar8)", "Polar0.5,RFlat", "IVF8,Polar2,RFlat",
               "PCA40,Polar4,RFlat", "Polar4,Refine(PCA48,Polar8)");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(description, static_cast<int>(metric));
  const auto index = build_full(description, metric);
  look_at_all_lists(*index);
  const float radius = some_radius(*index);
  const auto all = [](int64_t) { return true; };
  const Within expected = expected_within(as_refinement(*index), radius, all);
  REQUIRE(expected.ids.size() > 1000);

  const Within found = find_within(*index, queries().data(), kQueries, radius);
  size_t common = 0;
  for (size_t q = 0; q < static_cast<size_t>(kQueries); ++q) {
    for (size_t i = found.lims[q]; i < found.lims[q + 1]; ++i) {
      const auto begin = expected.ids.begin() + static_cast<ptrdiff_t>(expected.lims[q]);
      const auto end = expected.ids.begin() + static_cast<ptrdiff_t>(expected.lims[q + 1]);
      const auto same = std::find(begin, end, found.ids[i]);
      REQUIRE(same != end);
      CHECK(found.scores[i] == expected.scores[static_cast<size_t>(same - expected.ids.begin())]);
      ++common;
    }
  }
  CHECK(static_cast<double>(common) > .99 * static_cast<double>(expected.ids.size()));

  set_exactness(*index, kInfinity);
  CHECK(find_within(*index, queries().data(), kQueries, radius) == expected);
}

TEST_CASE("A range_search of a refinement says nothing of other queries", "[faiss][range]") {
  const std::string description =
      GENERATE("Polar2,RFlat", "IVF8,Polar2,RFlat", "HNSW8,Polar2,RFlat");
  CAPTURE(description);
  const auto index = build_full(description, kL2);
  const float radius = some_radius(*index);
  const Within together = find_within(*index, queries().data(), kQueries, radius);
  Within alone{{0}, {}, {}};
  for (int64_t q = 0; q < kQueries; ++q) {
    const Within one = find_within(*index, queries().data() + q * kDim, 1, radius);
    alone.scores.insert(alone.scores.end(), one.scores.begin(), one.scores.end());
    alone.ids.insert(alone.ids.end(), one.ids.begin(), one.ids.end());
    alone.lims.push_back(alone.ids.size());
  }
  CHECK(together == alone);
}

TEST_CASE("A range_search of a refinement takes selectors, also in id maps", "[faiss][range]") {
  const auto index = build_full("Polar2,RFlat", kInnerProduct);
  const auto mapped = build_full("IDMap2,Polar2,RFlat", kInnerProduct);
  const float radius = some_radius(*index);
  const ::faiss::IDSelectorRange some(300, 800);
  const ::faiss::IDSelectorRange same(id_of(300), id_of(800));
  SearchParametersPolar params;
  params.exactness = kInfinity;
  params.sel = const_cast<::faiss::IDSelectorRange*>(&some);
  Within expected = expected_within(as_refinement(*index), radius,
                                    [](int64_t row) { return row >= 300 && row < 800; });
  REQUIRE(expected.ids.size() > 100);
  CHECK(find_within(*index, queries().data(), kQueries, radius, &params) == expected);
  params.sel = const_cast<::faiss::IDSelectorRange*>(&same);
  for (int64_t& id : expected.ids) id = id_of(id);
  CHECK(find_within(*mapped, queries().data(), kQueries, radius, &params) == expected);
}

TEST_CASE("Rows within a radius of a refined graph are found", "[faiss][range]") {
  const auto index = build_full("HNSW16,Polar2,RFlat", kL2);
  const float radius = some_radius(*index);
  const Within expected =
      expected_within(as_refinement(*index), radius, [](int64_t) { return true; });
  const Within found = find_within(*index, queries().data(), kQueries, radius);
  CHECK(static_cast<double>(found.ids.size()) > .95 * static_cast<double>(expected.ids.size()));
  for (const float score : found.scores) CHECK(score < radius);
}

/// An empty index in the state that `index` has, with these rows.
std::unique_ptr<::faiss::Index> with_rows(const ::faiss::Index& index,
                                          const std::vector<float>& x) {
  std::unique_ptr<::faiss::Index> made = clone_index(index);
  made->reset();
  made->add(static_cast<int64_t>(x.size()) / kDim, x.data());
  return made;
}

void require_same_answers(const ::faiss::Index& index, const ::faiss::Index& expected) {
  REQUIRE(index.ntotal == expected.ntotal);
  look_at_all_lists(index);
  look_at_all_lists(expected);
  const Found found = find(index, queries(), kK);
  const Found wanted = find(expected, queries(), kK);
  CHECK(found.labels == wanted.labels);
  CHECK(found.distances == wanted.distances);
  const float radius = some_radius(expected);
  CHECK(find_within(index, queries().data(), kQueries, radius) ==
        find_within(expected, queries().data(), kQueries, radius));
}

TEST_CASE("Both parts of a refinement lose the same rows", "[faiss]") {
  const std::string description =
      GENERATE("Polar2,RFlat", "IVF8,Polar2,RFlat", "IVF8,Polar2,Refine(Polar8)",
               "PCA40,IVF8,Polar4,RFlat", "IVF8,PolarTree4.2.2.2,RFlat", "IVF8,SQ8,Refine(Polar8)");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(description, static_cast<int>(metric));
  const auto index = build_full(description, metric);
  const auto fresh = clone_index(*index);
  std::vector<int64_t> gone;
  std::vector<float> kept;
  for (int64_t row = 0; row < kRows; ++row) {
    if (row % 3 == 1 || row > 1450) {
      gone.push_back(row);
    } else {
      kept.insert(kept.end(), rows().begin() + row * kDim, rows().begin() + (row + 1) * kDim);
    }
  }
  const ::faiss::IDSelectorBatch selected(gone.size(), gone.data());
  CHECK(index->remove_ids(selected) == gone.size());
  require_same_answers(*index, *with_rows(*fresh, kept));
  // What comes after them has the next numbers.
  index->add(5, rows().data());
  kept.insert(kept.end(), rows().begin(), rows().begin() + 5 * kDim);
  require_same_answers(*index, *with_rows(*fresh, kept));
}

TEST_CASE("Both parts of a refinement get the new rows", "[faiss]") {
  const std::string description =
      GENERATE("Polar2,RFlat", "Polar2,Refine(SQ8)", "IVF8,Polar2,RFlat",
               "IVF8,Polar2,Refine(Polar8)", "PCA40,IVF8,Polar4,RFlat", "IVF8,SQ8,Refine(Polar8)");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(description, static_cast<int>(metric));
  const auto index = build_full(description, metric);
  const std::vector<float> other = clustered_rows(40, kDim, 7);
  std::vector<float> expected = rows();
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < 40; ++i) keys.push_back(i == 39 ? 12 : 31 * i + 12);  // one comes twice
  for (size_t i = 0; i < keys.size(); ++i) {
    std::copy_n(other.begin() + static_cast<ptrdiff_t>(i) * kDim, kDim,
                expected.begin() + keys[i] * kDim);
  }
  const auto fresh = clone_index(*index);
  update_vectors(*index, 40, keys.data(), other.data());
  require_same_answers(*index, *with_rows(*fresh, expected));
}

TEST_CASE("Rows of refinements in id maps go and change by their ids", "[faiss]") {
  const std::string description = GENERATE("IDMap2,Polar2,RFlat", "IDMap,IVF8,Polar2,RFlat",
                                           "IDMap2,HNSW8,Polar2,RFlat", "IDMap2,IVF8,Polar2");
  CAPTURE(description);
  const auto index = build_full(description, kL2);
  look_at_all_lists(*index);
  const std::vector<float> other = clustered_rows(1, kDim, 7);
  if (description != "IDMap2,IVF8,Polar2") {
    const int64_t changed = id_of(77);
    update_vectors(*index, 1, &changed, other.data());
    CHECK(find(*index, other, 1).labels[0] == changed);
  }
  const std::vector<int64_t> gone = {id_of(0), id_of(5), id_of(700)};
  CHECK(index->remove_ids(::faiss::IDSelectorBatch(gone.size(), gone.data())) == 3);
  CHECK(index->ntotal == kRows - 3);
  size_t found = 0;
  for (int64_t row = 0; row < kRows; row += 7) {
    const std::vector<float> x(rows().begin() + row * kDim, rows().begin() + (row + 1) * kDim);
    const int64_t id = find(*index, x, 1).labels[0];
    CHECK(std::count(gone.begin(), gone.end(), id) == 0);
    found += id == id_of(row) ? 1 : 0;
  }
  CHECK(found > 200);
}

TEST_CASE("Refinements refuse what a part cannot do, and are as before", "[faiss]") {
  const auto index = build_full("IVF8,Polar2,RFlat", kL2);
  const auto before = clone_index(*index);
  const std::vector<int64_t> keys = {3, kRows};
  require_faiss_error("id 1500 is not in the index",
                      [&] { update_vectors(*index, 2, keys.data(), rows().data()); });
  require_faiss_error("upsert_vectors",
                      [&] { upsert_vectors(*index, 1, keys.data(), rows().data()); });
  auto& lists = dynamic_cast<IndexIVFPolar&>(*as_refinement(*index).base_index);
  lists.keep_ids();
  const ::faiss::IDSelectorRange some(0, 10);
  require_faiss_error("keeps ids of its own", [&] { index->remove_ids(some); });
  update_vectors(*index, 1, keys.data(), rows().data() + 3 * kDim);
  lists.keep_ids(false);
  require_same_answers(*index, *before);
  CHECK(index->remove_ids(some) == 10);

  ::faiss::RangeSearchResult result(1);
  require_faiss_error("radius", [&] {
    index->range_search(1, queries().data(), std::numeric_limits<float>::quiet_NaN(), &result);
  });
}

}  // namespace
}  // namespace polarquant::test
