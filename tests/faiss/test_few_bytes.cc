// SPDX-License-Identifier: MIT
// Codes of few bytes in every kind of index: built, searched, written, read and changed.
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "src/codec/codec.h"
#include "src/faiss/index/row_changes.h"
#include "tests/faiss/composed_index.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

/// A description, and the recall@10 that it has at least.
struct FewBytes {
  const char* description;
  double recall;
};

const FewBytes kFewBytes[] = {
    {"PolarB16", .47},
    {"PolarB16-km64", .72},
    {"L2norm,PolarB16-km64", .4},
    {"IDMap2,PolarB16-km64", .72},
    {"PCA48,PolarB12-km32", .55},
    {"PolarB16-km64,RFlat", .72},
    {"PolarB16-km64,Refine(Polar8)", .72},
    {"HNSW32,PolarB16", .47},
    {"HNSW32,PolarB16-km64", .72},
    {"NSG16,PolarB16-km64", .72},
    {"IVF16,PolarB16", .62},
};

bool has(const std::string& description, const char* name) {
  return description.find(name) != std::string::npos;
}

/// Through most of an index, so that what is found tells of its codes. Rows of 20 clusters are hard
/// for the links of an NSG: a walk that keeps 16 has a recall of .2 to .8 with one draw of rows or
/// another, FAISS's own over floats too.
Found search(::faiss::Index& index, const std::string& description) {
  if (has(description, "NSG")) polarquant::set_index_parameter(index, "search_L", 1200);
  if (has(description, "IVF")) polarquant::set_index_parameter(index, "nprobe", 16);
  return find(index, queries(), kK);
}

TEST_CASE("Indexes of few bytes are trained, filled and searched", "[faiss][few-bytes]") {
  const FewBytes made = GENERATE(from_range(std::begin(kFewBytes), std::end(kFewBytes)));
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(made.description, static_cast<int>(metric));
  auto index = polarquant::index_factory(kDim, made.description, metric);
  CHECK(!index->is_trained);
  CHECK(index->ntotal == 0);
  if (std::string(made.description).starts_with("PolarB"))
    require_faiss_error("not trained", [&] { index->add(10, rows().data()); });
  index->train(kRows, rows().data());
  CHECK(index->is_trained);
  add_rows(*index, made.description);
  CHECK(index->ntotal == kRows);
  const Found found = search(*index, made.description);
  Found truth = find_exactly(rows(), queries(), kDim, kK, metric);
  if (has_id_map(made.description))
    for (int64_t& label : truth.labels) label = id_of(label);
  CHECK(recall(found, truth, kK) > made.recall);
  for (const float distance : found.distances) REQUIRE(std::isfinite(distance));
  for (size_t i = 1; i < found.distances.size(); ++i) {
    if (i % kK == 0) continue;
    if (metric == kL2) REQUIRE(found.distances[i] >= found.distances[i - 1]);
    if (metric != kL2) REQUIRE(found.distances[i] <= found.distances[i - 1]);
  }
}

TEST_CASE("Indexes of few bytes are read as they were written", "[faiss][few-bytes][io]") {
  const std::string description =
      GENERATE("PolarB16", "PolarB16-km64", "IDMap2,PolarB16-km64", "PolarB16-km64,RFlat",
               "HNSW32,PolarB16-km64", "IVF16,PolarB16");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(description, static_cast<int>(metric));
  auto index = build_full(description, metric);
  const Found found = search(*index, description);
  const std::vector<uint8_t> bytes = written(*index);
  auto read = read_from(bytes);
  CHECK(search(*read, description) == found);
  CHECK(written(*read) == bytes);
  CHECK(search(*clone_index(*index), description) == found);

  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  write_index(*index, path);
  for (const bool memory_map : {false, true}) {
    ReadOptions options;
    options.memory_map = memory_map;
    const auto by_path = read_index(path, options);
    CHECK(search(*by_path, description) == found);
    verify_index(*by_path);
  }
  // It goes on as the index would have.
  std::vector<float> more = clustered_rows(50, kDim, 5);
  for (::faiss::Index* given : {index.get(), read.get()}) {
    if (has_id_map(description)) {
      std::vector<int64_t> ids;
      for (int64_t row = kRows; row < kRows + 50; ++row) ids.push_back(id_of(row));
      given->add_with_ids(50, more.data(), ids.data());
    } else {
      given->add(50, more.data());
    }
  }
  CHECK(search(*read, description) == search(*index, description));
}

TEST_CASE("A file of few bytes is about as long as its codes", "[faiss][few-bytes][io]") {
  // 16 bytes a row, beside the centroids and the axes; sections begin at multiples of 4,096 bytes,
  // and are followed by some that are 0.
  constexpr size_t kRounding = 2 * 4096;
  auto index = build_full("PolarB16-km64", kL2);
  const size_t before = written(*index).size();
  for (int i = 0; i < 4; ++i) index->add(kRows, rows().data());
  const size_t added = 4 * kRows * size_t{16};
  const size_t after = written(*index).size();
  CHECK(after - before + kRounding >= added);
  CHECK(after - before <= added + kRounding);
}

TEST_CASE("Rows go from indexes of few bytes", "[faiss][few-bytes]") {
  const std::string description = GENERATE("PolarB16", "PolarB16-km64", "HNSW32,PolarB16-km64",
                                           "IVF16,PolarB16", "IDMap2,PolarB16-km64");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(description, static_cast<int>(metric));
  auto index = build_full(description, metric);
  const auto id = [&](int64_t row) { return has_id_map(description) ? id_of(row) : row; };
  const ::faiss::IDSelectorRange gone(id(200), id(900));
  CHECK(remove_rows(*index, gone) == 700);
  CHECK(index->ntotal == kRows - 700);
  // What is left is what an index has that never had them.
  auto other = polarquant::index_factory(kDim, description, metric);
  other->train(kRows, rows().data());
  const bool keeps_ids = has_id_map(description) || has(description, "IVF");
  std::vector<int64_t> ids;
  std::vector<float> left;
  for (int64_t row = 0; row < kRows; ++row) {
    if (row >= 200 && row < 900) continue;
    ids.push_back(id(row));
    left.insert(left.end(), rows().begin() + row * kDim, rows().begin() + (row + 1) * kDim);
  }
  if (keeps_ids) {
    other->add_with_ids(std::ssize(ids), left.data(), ids.data());
  } else {
    other->add(std::ssize(ids), left.data());
  }
  const Found found = search(*index, description);
  const Found expected = search(*other, description);
  if (has(description, "HNSW")) {
    CHECK(recall(found, expected, kK) > .95);
  } else {
    CHECK(found.labels == expected.labels);
    CHECK(found.distances == expected.distances);
  }
}

TEST_CASE("A selector, a radius and a larger k pass through codes about centroids",
          "[faiss][few-bytes]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  auto index = build_full("PolarB16-km64", metric);
  const Found all = find(*index, queries(), kRows);
  ::faiss::IDSelectorRange range(500, 1400);
  ::faiss::SearchParameters params;
  params.sel = &range;
  const Found found = find(*index, queries(), kK, &params);
  for (int64_t q = 0; q < kQueries; ++q) {
    int64_t kept = 0;
    for (int64_t i = q * kRows; kept < kK; ++i) {
      const auto at = static_cast<size_t>(i);
      if (!range.is_member(all.labels[at])) continue;
      REQUIRE(found.labels[static_cast<size_t>(q * kK + kept)] == all.labels[at]);
      REQUIRE(found.distances[static_cast<size_t>(q * kK + kept)] == all.distances[at]);
      ++kept;
    }
  }
  // Every score is the codec's.
  const auto& polar = dynamic_cast<const IndexPolar&>(*index);
  std::vector<uint8_t> codes(polar.codec().layout().bytes(kRows));
  polar.codec().encode(kRows, rows().data(), codes.data(), 1);
  std::vector<float> scores(kRows);
  for (int64_t q = 0; q < kQueries; ++q) {
    const PreparedQuery query =
        polar.codec().prepare_query(&queries()[static_cast<size_t>(q * kDim)]);
    polar.codec().score(query, {codes.data(), kRows}, 0, kRows, scores.data());
    for (int64_t i = q * kRows; i < (q + 1) * kRows; ++i)
      REQUIRE(all.distances[static_cast<size_t>(i)] ==
              Approx(scores[static_cast<size_t>(all.labels[static_cast<size_t>(i)])]).margin(1e-3));
  }
}

TEST_CASE("Lists of an inverted file are the centroids of its codes", "[faiss][few-bytes][ivf]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  require_faiss_error("an inverted file's lists are centroids already; take PolarB16 in it",
                      [&] { build_full("IVF16,PolarB16-km64", metric); });
}

TEST_CASE("Names of few bytes that do not fit are told", "[faiss][few-bytes]") {
  require_faiss_error("at dim 64 codes have 3 to 18 bytes",
                      [] { polarquant::index_factory(kDim, "PolarB19"); });
  require_faiss_error("at dim 64 codes have 4 to 20 bytes",
                      [] { polarquant::index_factory(kDim, "IDMap,PolarB3-km16"); });
  require_faiss_error("-km2 to -km65536", [] { polarquant::index_factory(kDim, "PolarB16-km1"); });
  auto index = polarquant::index_factory(kDim, "PolarB16-km1000");
  require_faiss_error("are left to find 1000 centroids from",
                      [&] { index->train(kRows, rows().data()); });
  CHECK(!index->is_trained);
}

}  // namespace
}  // namespace polarquant::test
