// SPDX-License-Identifier: MIT
// The first rows of an index that nobody trained: floats, searched exactly, until they are enough
// to learn from. In whatever pieces rows come, the index comes to be the same.
#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/utils/distances.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/random.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/file_surgery.h"
#include "tests/faiss/stored_indexes.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kLearn = IndexPolar::rows_to_learn;
constexpr int64_t kRows = 1500;
constexpr int64_t kK = 10;
constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }
std::vector<float> some_rows(int64_t first, int64_t end) { return {row(first), row(end)}; }
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(20, kDim, 2);
  return values;
}

/// Adds rows first … end−1, `piece` at a time.
void add_in_pieces(::faiss::Index& index, int64_t first, int64_t end, int64_t piece) {
  for (; first < end; first += piece) index.add(std::min(piece, end - first), row(first));
}

bool same(const IndexPolar& a, const IndexPolar& b) {
  return a.codec().save_state() == b.codec().save_state() &&
         a.rows_as_floats() == b.rows_as_floats() &&
         find(a, queries(), kRows) == find(b, queries(), kRows);
}

/// The IndexPolar inside, or null.
const IndexPolar* polar_in(const ::faiss::Index& index) {
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&index)) return polar;
  if (const auto* map = dynamic_cast<const ::faiss::IndexIDMap*>(&index))
    return polar_in(*map->index);
  if (const auto* pre = dynamic_cast<const ::faiss::IndexPreTransform*>(&index))
    return polar_in(*pre->index);
  if (const auto* graph = dynamic_cast<const ::faiss::IndexHNSW*>(&index))
    return polar_in(*graph->storage);
  if (const auto* graph = dynamic_cast<const ::faiss::IndexNSG*>(&index))
    return polar_in(*graph->storage);
  if (const auto* refine = dynamic_cast<const ::faiss::IndexRefine*>(&index)) {
    const IndexPolar* base = polar_in(*refine->base_index);
    return base != nullptr ? base : polar_in(*refine->refine_index);
  }
  return nullptr;
}

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
    const float of_floats = computer->symmetric_dis(3, 4);
    index.add(1, row(n));
    REQUIRE(index.rows_as_floats() == 0);
    const std::unique_ptr<::faiss::DistanceComputer> of_codes(index.get_distance_computer());
    of_codes->set_query(queries().data());
    CHECK((*computer)(5) == (*of_codes)(5));
    CHECK(computer->symmetric_dis(3, 4) == of_codes->symmetric_dis(3, 4));
    CHECK(computer->symmetric_dis(3, 4) != of_floats);
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
  int64_t held = 0;
  const bool is_trained_already = polar_in(*index)->codec().origin() == StateOrigin::trained;
  for (const int64_t count : {1, 2, 100, 896, 1, 500}) {
    if (with_ids) {
      index->add_with_ids(count, row(held), ids.data() + held);
    } else {
      index->add(count, row(held));
    }
    held += count;
    CAPTURE(held);
    REQUIRE(index->ntotal == held);
    const bool floats = held < kLearn && !is_trained_already;
    REQUIRE(polar_in(*index)->rows_as_floats() == (floats ? held : 0));
    const int64_t k = std::min<int64_t>(held, kK);
    const Found found = find(*index, queries(), k);
    std::vector<float> held_rows = some_rows(0, held);
    std::vector<float> q = queries();
    if (description.find("L2norm") == 0) {
      ::faiss::fvec_renorm_L2(kDim, static_cast<size_t>(held), held_rows.data());
      ::faiss::fvec_renorm_L2(kDim, 20, q.data());
    }
    const Found truth = find_exactly(held_rows, q, kDim, k, kL2);
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
  const int64_t held = GENERATE(0, 1, 999, 1000, 1001);
  CAPTURE(single_rows, held);
  IndexPolar::Options options;
  options.single_rows = single_rows;
  IndexPolar index(kDim, "Polar4", kL2, options);
  add_in_pieces(index, 0, held, 333);
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
  add_in_pieces(index, held, kRows, 400);
  for (const auto& copy : copies) {
    auto& polar = dynamic_cast<IndexPolar&>(*copy);
    add_in_pieces(polar, held, kRows, 400);
    CHECK(same(polar, index));
  }
  std::remove(path.c_str());
}

TEST_CASE("First rows are removed and replaced", "[faiss][first-rows]") {
  IndexPolar index(kDim, "Polar2", kL2);
  std::vector<int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 5000);
  index.add_with_ids(900, row(100), ids.data());
  CHECK(index.remove_ids(::faiss::IDSelectorRange(5100, 5200)) == 100);
  CHECK(index.remove_ids(::faiss::IDSelectorRange(0, 5000)) == 0);
  const std::vector<int64_t> keys = {5000, 5899, 5000};
  index.update_vectors(3, keys.data(), row(0));
  std::vector<float> x(kDim);
  index.reconstruct(5000, x.data());
  CHECK(x == some_rows(2, 3));
  index.reconstruct(5899, x.data());
  CHECK(x == some_rows(1, 2));
  index.reconstruct(5200, x.data());
  CHECK(x == some_rows(300, 301));
  require_faiss_error("id 5150", [&] { index.reconstruct(5150, x.data()); });
  CHECK(index.rows_as_floats() == 800);
  index.add_with_ids(200, row(1000), ids.data() + 900);
  CHECK(index.rows_as_floats() == 0);

  // The same rows at once.
  std::vector<float> all = some_rows(2, 3);
  const auto append = [&all](int64_t first, int64_t end) {
    const std::vector<float> more = some_rows(first, end);
    all.insert(all.end(), more.begin(), more.end());
  };
  append(101, 200);
  append(300, 999);
  append(1, 2);
  append(1000, 1200);
  IndexPolar at_once(kDim, "Polar2", kL2);
  at_once.add(1000, all.data());
  CHECK(at_once.codec().save_state() == index.codec().save_state());
  Found found = find(index, queries(), kK);
  const Found wanted = find(at_once, queries(), kK);
  CHECK(found.distances == wanted.distances);

  // Few rows left: codes stay codes, and the state is what it was.
  const std::vector<uint8_t> state = index.codec().save_state();
  index.remove_ids(::faiss::IDSelectorRange(5003, 1 << 20));
  CHECK(index.rows_as_floats() == 0);
  index.reset();
  CHECK(index.codec().save_state() == state);
  index.add(1, row(0));
  CHECK(index.rows_as_floats() == 0);
}

TEST_CASE("Training, and code_rows, code the rows held", "[faiss][first-rows]") {
  const std::string description = GENERATE("Polar4", "IDMap2,Polar4", "HNSW16,Polar4");
  CAPTURE(description);
  const auto index = index_factory(kDim, description, kL2);
  const auto expected = index_factory(kDim, description, kL2);
  expected->train(kRows, rows().data());
  std::vector<int64_t> ids(500);
  std::iota(ids.begin(), ids.end(), 0);
  const auto add = [&](::faiss::Index& to) {
    if (description[0] == 'I') {
      to.add_with_ids(500, row(7), ids.data());
    } else {
      to.add(500, row(7));
    }
  };
  add(*expected);
  add(*index);
  index->train(kRows, rows().data());
  CHECK(polar_in(*index)->rows_as_floats() == 0);
  CHECK(polar_in(*index)->codec().save_state() == polar_in(*expected)->codec().save_state());
  if (description[0] != 'H')
    CHECK(find(*index, queries(), kK) == find(*expected, queries(), kK));
  else
    CHECK(recall(find(*index, queries(), kK), find(*expected, queries(), kK), kK) > .9);
  require_faiss_error("train", [&] { index->train(kRows, rows().data()); });

  IndexPolar now(kDim, "Polar4", kL2);
  now.code_rows();
  CHECK(now.codec().origin() == StateOrigin::initial);
  now.add(500, row(7));
  now.code_rows();
  IndexPolar taught(kDim, "Polar4", kL2);
  taught.train(500, row(7));
  taught.add(500, row(7));
  CHECK(same(now, taught));
}

TEST_CASE("What has nothing to learn codes at once", "[faiss][first-rows]") {
  IndexPolar::Options options;
  options.norm_unit = 8;
  options.learn_centre = false;
  IndexPolar without(kDim, "Polar4", kL2, options);
  without.add(1, row(0));
  CHECK(without.rows_as_floats() == 0);
  options.learn_centre = true;
  options.centre.assign(kDim, .5F);
  IndexPolar given(kDim, "Polar4", kL2, options);
  given.add(1, row(0));
  CHECK(given.rows_as_floats() == 0);
  options.norm_unit = 0;
  IndexPolar unit_alone(kDim, "Polar4", kL2, options);
  unit_alone.add(1, row(0));
  CHECK(unit_alone.rows_as_floats() == 1);
  unit_alone.add(kRows - 1, row(1));
  CHECK(unit_alone.codec().centre()[3] == .5F);
}

TEST_CASE("sa_encode fixes the state as it is", "[faiss][first-rows]") {
  IndexPolar index(kDim, "Polar4", kL2);
  index.add(10, row(0));
  std::vector<uint8_t> code(index.sa_code_size());
  index.sa_encode(1, row(5), code.data());
  const std::vector<uint8_t> state = index.codec().save_state();
  CHECK(index.rows_as_floats() == 10);
  const auto read = read_from(written(index));
  for (::faiss::Index* each : {static_cast<::faiss::Index*>(&index), read.get()}) {
    auto& polar = dynamic_cast<IndexPolar&>(*each);
    require_faiss_error("encoded", [&] { polar.train(kRows, rows().data()); });
    polar.add(1, row(10));
    CHECK(polar.rows_as_floats() == 0);
    CHECK(polar.codec().save_state() == state);
    std::vector<float> x(kDim);
    std::vector<float> of_code(kDim);
    polar.reconstruct(5, x.data());
    polar.sa_decode(1, code.data(), of_code.data());
    CHECK(x == of_code);
  }
}

TEST_CASE("First rows are merged", "[faiss][first-rows]") {
  const bool with_ids = GENERATE(false, true);
  CAPTURE(with_ids);
  std::vector<int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  const auto make = [&](int64_t first, int64_t end) {
    auto index = std::make_unique<IndexPolar>(kDim, "Polar4", kL2);
    if (with_ids) {
      index->add_with_ids(end - first, row(first), ids.data() + first);
    } else if (end > first) {
      index->add(end - first, row(first));
    }
    return index;
  };
  const auto merged = [&](int64_t first, int64_t middle, int64_t end) {
    auto index = make(first, middle);
    auto other = make(middle, end);
    index->check_compatible_for_merge(*other);
    index->merge_from(*other);
    CHECK(other->ntotal == 0);
    other->add(1, row(0));
    return index;
  };
  SECTION("few into few") {
    const auto index = merged(0, 300, 600);
    CHECK(index->rows_as_floats() == 600);
    CHECK(same(*index, *make(0, 600)));
  }
  SECTION("few into few, which are many together") {
    const auto index = merged(0, 700, 1400);
    CHECK(index->rows_as_floats() == 0);
    CHECK(same(*index, *make(0, 1400)));
  }
  SECTION("few into many") {
    const auto index = merged(0, 1200, 1500);
    auto expected = make(0, 1200);
    if (with_ids) {
      expected->add_with_ids(300, row(1200), ids.data() + 1200);
    } else {
      expected->add(300, row(1200));
    }
    CHECK(same(*index, *expected));
  }
  SECTION("many into few, or none, which take over the state") {
    for (const int64_t few : {0, 1, 400}) {
      const auto index = merged(0, few, few + 1050);
      CHECK(index->rows_as_floats() == 0);
      const auto other = make(few, few + 1050);
      CHECK(index->codec().state_id() == other->codec().state_id());
      IndexPolar expected(kDim, "Polar4", kL2);
      expected.train(1050, row(few));
      expected.add(few + 1050, row(0));
      CHECK(find(*index, queries(), kK) == find(expected, queries(), kK));
      // It can be saved, and is the same then.
      CHECK(find(*read_from(written(*index)), queries(), kK) == find(*index, queries(), kK));
    }
  }
  SECTION("not of another kind, nor into what was given otherwise") {
    const auto index = make(0, 100);
    IndexPolar spec(kDim, "Polar2", kL2);
    require_faiss_error("spec", [&] { index->merge_from(spec); });
    IndexPolar::Options options;
    options.seed = 2;
    IndexPolar seed(kDim, "Polar4", kL2, options);
    seed.add(5, row(0));
    require_faiss_error("seed", [&] { index->merge_from(seed); });
    options.seed = 1;
    options.learn_centre = false;
    IndexPolar no_centre(kDim, "Polar4", kL2, options);
    if (with_ids) {
      no_centre.add_with_ids(5, row(100), ids.data() + 1400);
    } else {
      no_centre.add(5, row(100));
    }
    const auto many = make(0, 1300);
    require_faiss_error("centre", [&] { no_centre.merge_from(*many); });
    CHECK(no_centre.rows_as_floats() == 5);
    CHECK(many->ntotal == 1300);
    options.learn_centre = true;
    options.norm_unit = 1024;
    IndexPolar unit(kDim, "Polar4", kL2, options);
    require_faiss_error("norm_unit", [&] { unit.merge_from(*many); });
    index->merge_from(no_centre);
    CHECK(index->ntotal == 105);
  }
  SECTION("and a refused merge changes neither") {
    if (!with_ids) return;
    const auto index = make(0, 700);
    const auto before = written(*index);
    const auto other = make(650, 1400);
    const auto other_before = written(*other);
    require_faiss_error("id 650", [&] { index->merge_from(*other); });
    CHECK((written(*index) == before));
    CHECK((written(*other) == other_before));
  }
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

TEST_CASE("A refused row leaves first rows as they were", "[faiss][first-rows]") {
  const int64_t held = GENERATE(0, 10, 995);
  const bool too_long = GENERATE(false, true);
  CAPTURE(held, too_long);
  IndexPolar index(kDim, "Polar4", kL2);
  add_in_pieces(index, 0, held, 500);
  const auto before = written(index);
  std::vector<float> bad = some_rows(0, 8);
  bad[3 * kDim + 5] = too_long ? 3e30F : NAN;
  require_faiss_error("row 3", [&] { index.add(8, bad.data()); });
  CHECK((written(index) == before));
  if (held == 0) return;
  const std::vector<int64_t> keys = {0, 1, 2, 3};
  require_faiss_error("row 3", [&] { index.update_vectors(4, keys.data(), bad.data()); });
  CHECK((written(index) == before));
  bad[3 * kDim + 5] = NAN;
  require_faiss_error("", [&] { find(index, bad, 1); });
}

TEST_CASE("A refinement takes back an add that coded first rows", "[faiss][first-rows]") {
  // The other index is full: FAISS's own, which this one stands for.
  struct Full final : ::faiss::IndexFlat {
    using IndexFlat::IndexFlat;
    void add(idx_t n, const float* x) override {
      if (ntotal + n > 1200) throw std::bad_alloc();
      IndexFlat::add(n, x);
    }
  };
  const auto index = index_factory(kDim, "Polar2,RFlat", kL2);
  auto& refine = dynamic_cast<::faiss::IndexRefine&>(*index);
  delete refine.refine_index;
  refine.refine_index = new Full(kDim, kL2);
  index->add(900, rows().data());
  const Found before = find(*index, queries(), kK);
  CHECK_THROWS(index->add(600, row(900)));
  CHECK(index->ntotal == 900);
  CHECK(polar_in(*index)->rows_as_floats() == 900);
  CHECK(find(*index, queries(), kK) == before);
  index->add(150, row(900));
  CHECK(polar_in(*index)->rows_as_floats() == 0);
  CHECK_THROWS(index->add(600, row(900)));
  CHECK(index->ntotal == 1050);
}

}  // namespace
}  // namespace polarquant::test
