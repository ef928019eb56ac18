// SPDX-License-Identifier: MIT
// First rows of an index that nobody trained, when they are changed, moved, removed, coded before
// their time, or refused.
#include <faiss/impl/IDSelector.h>

#include <cmath>
#include <numeric>

#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/first_rows.h"

namespace polarquant::test {
namespace {

using namespace first_rows;  // NOLINT: this file is of nothing else

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
    std::vector<float> decoded(kDim);
    polar.reconstruct(5, x.data());
    polar.sa_decode(1, code.data(), decoded.data());
    CHECK(x == decoded);
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

TEST_CASE("A refused row leaves first rows as they were", "[faiss][first-rows]") {
  const int64_t row_count = GENERATE(0, 10, 995);
  const bool too_long = GENERATE(false, true);
  CAPTURE(row_count, too_long);
  IndexPolar index(kDim, "Polar4", kL2);
  add_in_pieces(index, 0, row_count, 500);
  const auto before = written(index);
  std::vector<float> bad = some_rows(0, 8);
  bad[3 * kDim + 5] = too_long ? 3e30F : NAN;
  require_faiss_error("row 3", [&] { index.add(8, bad.data()); });
  CHECK((written(index) == before));
  if (row_count == 0) return;
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
