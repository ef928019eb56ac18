// SPDX-License-Identifier: MIT
// Queries in memory that another codec's query had.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/scan/model/scan_query.h"
#include "src/scan/search/centroid_bases.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

/// With and without signs, a third bit of weights, segments without bits, two stages, which trained
/// codes may have split, and centroids.
const char* const kSpecs[] = {"Polar0.5",     "Polar1",       "Polar4",     "Polar8",
                              "Polar2+2",     "Polar1-pca",   "Polar4-pca", "Polar4+2-pca",
                              "Polar0.5-pca", "PolarB16-km40"};
constexpr int kDims[] = {96, 321};

struct Query {
  std::string name;
  std::unique_ptr<Codec> codec;
  ScanCodec scan;
  std::vector<float> x;
  PreparedQuery prepared;

  Query(const std::string& spec, int dim)
      : name(spec + " of " + std::to_string(dim)),
        codec(make_codec(spec, dim, Metric::inner_product)),
        scan(*codec),
        x(falling_rows(1, dim, 5)),
        prepared(codec->prepare_query(x.data())) {}

  void set(ScanQuery* query) const {
    set_scan_query(scan, prepared, 2, query);
    set_centroid_bases(*codec, scan, 1, x.data(), &prepared, query);
  }
};

TEST_CASE("a query is the same in memory that another codec's query had", "[query]") {
  std::deque<Query> queries;
  for (const int dim : kDims) {
    for (const char* spec : kSpecs) queries.emplace_back(spec, dim);
  }
  for (const Query& query : queries) {
    ScanQuery fresh;
    query.set(&fresh);
    for (const Query& other : queries) {
      ScanQuery used;
      other.set(&used);
      query.set(&used);
      CAPTURE(query.name, other.name);
      CHECK(used == fresh);
    }
  }
}

}  // namespace
}  // namespace polarquant::test
