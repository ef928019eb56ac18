// SPDX-License-Identifier: MIT
// The first rows of an index that nobody trained: floats, searched exactly, until they are enough
// to learn from. In whatever pieces rows come, the index comes to be the same.
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/utils/distances.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "src/core/random.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/first_rows.h"

namespace polarquant::test {
namespace {

using namespace first_rows;  // NOLINT: this file is of nothing else

TEST_CASE("In whatever pieces rows come, the index is the same", "[faiss][first-rows]") {
  const std::string spec =
      GENERATE("Polar1", "Polar2", "Polar4-dense", "Polar8", "Polar4+2", "PolarScalar4");
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  CAPTURE(spec, metric);
  // What learns is the add that brings the rows to 1,000, with all that it has.
  IndexPolar trained(kDim, spec, metric);
  trained.train(kLearn, rows().data());
  trained.add(kRows, rows().data());
  IndexPolar from_all(kDim, spec, metric);
  from_all.add(kRows, rows().data());
  CHECK(from_all.rows_as_floats() == 0);
  for (const int64_t piece : {1, 8, 250, 1000}) {
    CAPTURE(piece);
    IndexPolar index(kDim, spec, metric);
    add_in_pieces(index, 0, kRows, piece);
    CHECK(index.ntotal == kRows);
    CHECK(same(index, trained));
  }
  IndexPolar two_adds(kDim, spec, metric);
  two_adds.add(600, rows().data());
  CHECK(two_adds.rows_as_floats() == 600);
  two_adds.add(kRows - 600, row(600));
  CHECK(same(two_adds, from_all));
  Random random(3);
  for (int round = 0; round < 3; ++round) {
    IndexPolar index(kDim, spec, metric);
    while (index.ntotal < kLearn)
      index.add(
          std::min<int64_t>(1 + static_cast<int64_t>(random.below(400)), kLearn - index.ntotal),
          row(index.ntotal));
    while (index.ntotal < kRows)
      index.add(
          std::min<int64_t>(1 + static_cast<int64_t>(random.below(400)), kRows - index.ntotal),
          row(index.ntotal));
    CHECK(same(index, trained));
  }
}

TEST_CASE("Recall does not depend on the pieces", "[faiss][first-rows]") {
  // A long mean: without a centre most of the recall is lost.
  std::vector<float> x = clustered_rows(kRows, kDim, 1);
  for (float& value : x) value += 5;
  std::vector<float> q = clustered_rows(50, kDim, 2);
  for (float& value : q) value += 5;
  const Found truth = find_exactly(x, q, kDim, kK, kL2);
  std::vector<double> recalls;
  for (const int64_t piece : {kRows, int64_t{100}, int64_t{99}, int64_t{1}}) {
    IndexPolar index(kDim, "Polar4", kL2);
    for (int64_t at = 0; at < kRows; at += piece)
      index.add(std::min(piece, kRows - at), x.data() + at * kDim);
    recalls.push_back(recall(find(index, q, kK), truth, kK));
    CHECK(recalls.back() > .8);
    CHECK(std::abs(recalls.back() - recalls.front()) <= .03);
  }
}

TEST_CASE("First rows are searched exactly", "[faiss][first-rows]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  const std::string spec = GENERATE("Polar2", "PolarTree4.2.2.2");
  CAPTURE(metric, spec);
  const int64_t n = kLearn - 1;
  IndexPolar index(kDim, spec, metric);
  add_in_pieces(index, 0, n, 300);
  REQUIRE(index.rows_as_floats() == n);
  ::faiss::IndexFlat flat(kDim, metric);
  flat.add(n, rows().data());
  const Found truth = find(flat, queries(), kK);
  const Found found = find(index, queries(), kK);
  CHECK(found.labels == truth.labels);
  for (size_t i = 0; i < truth.distances.size(); ++i)
    CHECK(found.distances[i] == Approx(truth.distances[i]).epsilon(1e-4).margin(1e-3));

  SECTION("with selectors") {
    ::faiss::IDSelectorRange range(100, 333);
    ::faiss::SearchParameters params;
    params.sel = &range;
    ::faiss::IndexFlat part(kDim, metric);
    part.add(233, row(100));
    Found wanted = find(part, queries(), kK);
    for (int64_t& label : wanted.labels) label += 100;
    CHECK(find(index, queries(), kK, &params).labels == wanted.labels);
  }
  SECTION("within a radius") {
    const float radius = truth.distances[7];
    ::faiss::RangeSearchResult result(20);
    index.range_search(20, queries().data(), radius, &result);
    for (int64_t q = 0; q < 20; ++q) {
      const auto query = queries().begin() + q * kDim;
      const Found all = find(index, {query, query + kDim}, n);
      size_t within = 0;
      while (within < all.distances.size() &&
             (metric == kL2 ? all.distances[within] < radius : all.distances[within] > radius))
        ++within;
      REQUIRE(result.lims[q + 1] - result.lims[q] == within);
      for (size_t i = 0; i < within; ++i) CHECK(result.labels[result.lims[q] + i] == all.labels[i]);
    }
  }
  SECTION("and given back") {
    std::vector<float> all(static_cast<size_t>(n * kDim));
    index.reconstruct_n(0, n, all.data());
    CHECK(all == some_rows(0, n));
  }
  SECTION("equal ones by the lower id") {
    index.reset();
    for (int i = 0; i < 30; ++i) index.add(1, row(0));
    std::vector<int64_t> ids(7);
    std::iota(ids.begin(), ids.end(), 0);
    CHECK(find(index, some_rows(0, 1), 7).labels == ids);
  }
  SECTION("by distance computers, which follow rows that come to be codes") {
    const std::unique_ptr<::faiss::DistanceComputer> computer(index.get_distance_computer());
    computer->set_query(queries().data());
    CHECK((*computer)(truth.labels[0]) == found.distances[0]);
    const float by_floats = computer->symmetric_dis(3, 4);
    index.add(1, row(n));
    REQUIRE(index.rows_as_floats() == 0);
    const std::unique_ptr<::faiss::DistanceComputer> code_computer(index.get_distance_computer());
    code_computer->set_query(queries().data());
    CHECK((*computer)(5) == (*code_computer)(5));
    CHECK(computer->symmetric_dis(3, 4) == code_computer->symmetric_dis(3, 4));
    CHECK(computer->symmetric_dis(3, 4) != by_floats);
  }
}

TEST_CASE("Every kind of index works from its first row", "[faiss][first-rows]") {
  const std::string description =
      GENERATE("Polar2", "Polar8", "PolarScalar4", "PolarTree4.2.2.2", "IDMap,Polar4",
               "IDMap2,Polar2", "L2norm,Polar4", "L2norm,IDMap2,Polar4", "Polar2,RFlat",
               "SQ8,Refine(Polar8)", "HNSW16,Polar4", "IDMap2,HNSW16,Polar2");
  CAPTURE(description);
  const bool trains_transform = description.find("SQ8") == 0;
  const bool with_ids = description.find("IDMap") != std::string::npos;
  const auto index = index_factory(kDim, description, kL2);
  if (trains_transform) index->train(kRows, rows().data());
  std::vector<int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  int64_t added = 0;
  const bool is_trained_already = polar_in(*index)->codec().origin() == StateOrigin::trained;
  for (const int64_t count : {1, 2, 100, 896, 1, 500}) {
    if (with_ids) {
      index->add_with_ids(count, row(added), ids.data() + added);
    } else {
      index->add(count, row(added));
    }
    added += count;
    CAPTURE(added);
    REQUIRE(index->ntotal == added);
    const bool floats = added < kLearn && !is_trained_already;
    REQUIRE(polar_in(*index)->rows_as_floats() == (floats ? added : 0));
    const int64_t k = std::min<int64_t>(added, kK);
    const Found found = find(*index, queries(), k);
    std::vector<float> rows_added = some_rows(0, added);
    std::vector<float> q = queries();
    if (description.find("L2norm") == 0) {
      ::faiss::fvec_renorm_L2(kDim, static_cast<size_t>(added), rows_added.data());
      ::faiss::fvec_renorm_L2(kDim, 20, q.data());
    }
    const Found truth = find_exactly(rows_added, q, kDim, k, kL2);
    CHECK(recall(found, truth, k) >= (floats ? .97 : .5));
    // A copy, and what a file has of it, is the same index and goes on as it does.
    const auto clone = clone_index(*index);
    CHECK(find(*clone, queries(), k) == found);
    const auto read = read_from(written(*index));
    CHECK(find(*read, queries(), k) == found);
    CHECK((written(*read) == written(*index)));
  }
}

TEST_CASE("NSG is built over first rows", "[faiss][first-rows]") {
  const auto index = index_factory(kDim, "NSG16,Polar4", kL2);
  index->add(500, rows().data());
  CHECK(polar_in(*index)->rows_as_floats() == 500);
  const Found truth = find_exactly(some_rows(0, 500), queries(), kDim, kK, kL2);
  CHECK(recall(find(*index, queries(), kK), truth, kK) >= .9);
  CHECK(find(*read_from(written(*index)), queries(), kK) == find(*index, queries(), kK));
}

TEST_CASE("Copies and files of first rows go on as the index would", "[faiss][first-rows]") {
  const bool single_rows = GENERATE(false, true);
  const int64_t rows_before = GENERATE(0, 1, 999, 1000, 1001);
  CAPTURE(single_rows, rows_before);
  IndexPolar::Options options;
  options.single_rows = single_rows;
  IndexPolar index(kDim, "Polar4", kL2, options);
  add_in_pieces(index, 0, rows_before, 333);
  const std::string path = "first_rows.polarquant";
  write_index(index, path);
  ReadOptions map;
  map.memory_map = true;
  const auto mapped = read_index(path, map);
  CHECK(find(*mapped, queries(), kK) == find(index, queries(), kK));
  verify_index(*mapped);
  if (!single_rows) {
    require_faiss_error("memory-mapped", [&] { mapped->add(1, row(0)); });
    require_faiss_error("memory-mapped", [&] { mapped->reset(); });
    require_faiss_error("memory-mapped", [&] { mapped->train(kRows, row(0)); });
    require_faiss_error("memory-mapped",
                        [&] { mapped->remove_ids(::faiss::IDSelectorRange(0, 1)); });
  }
  std::vector<std::unique_ptr<::faiss::Index>> copies;
  copies.push_back(clone_index(index));
  copies.push_back(clone_index(*mapped));
  copies.push_back(read_index(path));
  copies.push_back(read_from(written(index), {}, 1000));
  add_in_pieces(index, rows_before, kRows, 400);
  for (const auto& copy : copies) {
    auto& polar = dynamic_cast<IndexPolar&>(*copy);
    add_in_pieces(polar, rows_before, kRows, 400);
    CHECK(same(polar, index));
  }
  std::remove(path.c_str());
}

TEST_CASE("Files whose first rows are none are refused", "[faiss][first-rows]") {
  constexpr SectionKind kFloats = section_kind("FLTS");
  IndexPolar index(16, "Polar4", kL2);
  index.add(10, clustered_rows(10, 16, 1).data());
  std::vector<FileSection> sections = take_apart(written(index));
  REQUIRE(sections.back().kind == kFloats);
  std::vector<uint8_t>& floats = sections.back().bytes;
  REQUIRE(floats.size() == 10 * 16 * sizeof(float));
  const auto refused = [&](const std::string& text) {
    require_faiss_error(text, [&] { read_from(put_together(sections)); });
  };
  CHECK(read_from(put_together(sections))->ntotal == 10);
  SECTION("too few") {
    floats.resize(floats.size() - 4);
    refused("FLTS");
  }
  SECTION("too many") {
    floats.resize(floats.size() + 64);
    refused("FLTS");
  }
  SECTION("not finite, or too long") {
    const float wrong = GENERATE(NAN, INFINITY, 3e30F);
    std::memcpy(floats.data() + 5 * 16 * sizeof(float), &wrong, sizeof wrong);
    refused("row 5");
  }
  SECTION("of a codec that cannot encode yet") {
    const IndexPolar untrained(16, "Polar4-pca", kL2);
    const std::vector<FileSection> others = take_apart(written(untrained));
    sections[1] = others[1];
    refused("");
  }
}

TEST_CASE("Builds that do not know first rows say so", "[faiss][first-rows]") {
  IndexPolar index(16, "Polar4", kL2);
  const auto version_of = [](const std::vector<uint8_t>& file) { return int{file[8]}; };
  CHECK(version_of(written(index)) == 1);
  index.add(10, clustered_rows(10, 16, 1).data());
  CHECK(version_of(written(index)) == 2);
  index.code_rows();
  CHECK(version_of(written(index)) == 1);
}

}  // namespace
}  // namespace polarquant::test
