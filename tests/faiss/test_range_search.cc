// SPDX-License-Identifier: MIT
// Range searches of IndexPolar against what its distance computer says of every row, and inside
// containers.
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>

#include <limits>
#include <memory>

#include "polarquant/faiss.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 900;
constexpr int64_t kQueries = 20;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(kQueries, kDim, 2);
  return values;
}

struct InRange {
  std::vector<size_t> lims;
  std::vector<float> distances;
  std::vector<int64_t> labels;

  bool operator==(const InRange&) const = default;
};
InRange find_in_range(const ::faiss::Index& index, float radius,
                      const ::faiss::SearchParameters* params = nullptr) {
  ::faiss::RangeSearchResult result(kQueries);
  index.range_search(kQueries, queries().data(), radius, &result, params);
  const size_t total = result.lims[kQueries];
  return {{result.lims, result.lims + kQueries + 1},
          {result.distances, result.distances + total},
          {result.labels, result.labels + total}};
}

/// By a search for every row, at exactness +inf.
template <typename Keep>
InRange expected_in_range(const IndexPolar& index, float radius, const Keep& keep) {
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  const Found all = find(index, queries(), kRows, &exact);
  InRange found{{0}, {}, {}};
  for (size_t i = 0; i < all.labels.size(); ++i) {
    const bool within = index.metric_type == ::faiss::METRIC_L2 ? all.distances[i] < radius
                                                                : all.distances[i] > radius;
    if (within && keep(all.labels[i])) {
      found.distances.push_back(all.distances[i]);
      found.labels.push_back(all.labels[i]);
    }
    if ((i + 1) % kRows == 0) found.lims.push_back(found.labels.size());
  }
  return found;
}

TEST_CASE("range_search finds every row within the radius", "[faiss][range]") {
  const std::string spec = GENERATE("Polar2", "Polar4", "Polar8", "PolarScalar4");
  const ::faiss::MetricType metric = GENERATE(::faiss::METRIC_INNER_PRODUCT, ::faiss::METRIC_L2);
  const bool with_ids = GENERATE(false, true);
  CAPTURE(spec, static_cast<int>(metric), with_ids);
  IndexPolar index(kDim, spec, metric);
  index.train(kRows, rows().data());
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = with_ids ? 5 * i + 2 : i;
  if (with_ids) {
    index.add_with_ids(kRows, rows().data(), ids.data());
  } else {
    index.add(kRows, rows().data());
  }
  const float radius = metric == ::faiss::METRIC_L2 ? 70.0F : 60.0F;
  const auto every = [](int64_t) { return true; };
  SearchParametersPolar exact;
  exact.exactness = std::numeric_limits<float>::infinity();
  const InRange expected = expected_in_range(index, radius, every);
  REQUIRE(expected.labels.size() > 100);
  CHECK(find_in_range(index, radius, &exact) == expected);
  const InRange found = find_in_range(index, radius);
  CHECK(found.labels.size() <= expected.labels.size());
  CHECK(static_cast<double>(found.labels.size()) >
        .97 * static_cast<double>(expected.labels.size()));

  const ::faiss::IDSelectorRange some(300, 900);
  exact.sel = const_cast<::faiss::IDSelectorRange*>(&some);
  CHECK(find_in_range(index, radius, &exact) ==
        expected_in_range(index, radius, [](int64_t id) { return id >= 300 && id < 900; }));
}

TEST_CASE("range_search passes containers", "[faiss][range]") {
  const std::string description = GENERATE("IDMap,Polar4", "IDMap2,Polar4", "L2norm,IDMap,Polar4");
  CAPTURE(description);
  const auto index = index_factory(kDim, description, ::faiss::METRIC_INNER_PRODUCT);
  const auto plain = index_factory(kDim, description[0] == 'L' ? "L2norm,Polar4" : "Polar4",
                                   ::faiss::METRIC_INNER_PRODUCT);
  index->train(kRows, rows().data());
  plain->train(kRows, rows().data());
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 5 * i + 2;
  index->add_with_ids(kRows, rows().data(), ids.data());
  plain->add(kRows, rows().data());
  const float radius = description[0] == 'L' ? .8F : 60.0F;
  for (const bool filtered : {false, true}) {
    ::faiss::IDSelectorRange mapped(1002, 3002);
    ::faiss::IDSelectorRange rows_of_them(200, 600);
    SearchParametersPolar outer;
    SearchParametersPolar inner;
    if (filtered) outer.sel = &mapped, inner.sel = &rows_of_them;
    InRange expected = find_in_range(*plain, radius, &inner);
    REQUIRE(expected.labels.size() > 50);
    for (int64_t& label : expected.labels) label = 5 * label + 2;
    CHECK(find_in_range(*index, radius, &outer) == expected);
  }
}

TEST_CASE("range_search names what is wrong", "[faiss][range]") {
  IndexPolar index(kDim, "Polar2");
  index.add(kRows, rows().data());
  require_faiss_error("radius: nan", [&] { find_in_range(index, NAN); });
  ::faiss::RangeSearchResult few(3);
  require_faiss_error("another number",
                      [&] { index.range_search(kQueries, queries().data(), 1, &few); });
  CHECK(find_in_range(index, -std::numeric_limits<float>::infinity()).labels.empty());
  index.reset();
  CHECK(find_in_range(index, 100).labels.empty());
}

}  // namespace
}  // namespace polarquant::test
