// SPDX-License-Identifier: MIT
// Ids, removal, updates and merges of IndexIVFPolar.
#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "tests/faiss/clustered_lists.h"
#include "tests/faiss/copy_ids.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {

using namespace clustered_lists;  // NOLINT: this file is of nothing else

TEST_CASE("Rows of an inverted file have the ids they are given", "[faiss][ivf]") {
  auto index = make_index("Polar4", kL2);
  std::vector<idx_t> ids;
  for (int64_t i = 0; i < kRows; ++i) ids.push_back(3 * i + 7);
  index->add_with_ids(1000, rows().data(), ids.data());
  for (int64_t i = 1000; i < kRows; i += 400) index->add_with_ids(400, row(i), ids.data() + i);
  CHECK(index->ntotal == kRows);
  Found found = find(*index, queries(), kK);
  auto by_position = filled_index("Polar4", kL2);
  Found expected = find(*by_position, queries(), kK);
  for (int64_t& label : expected.labels) label = 3 * label + 7;
  CHECK(found == expected);

  // Ids, and codes and floats by them.
  index->set_direct_map_type(::faiss::DirectMap::Hashtable);
  std::vector<float> x(kDim);
  index->reconstruct(3 * 123 + 7, x.data());
  std::vector<float> same(kDim);
  by_position->make_direct_map();
  by_position->reconstruct(123, same.data());
  CHECK(x == same);
  double error = 0;
  for (size_t i = 0; i < kDim; ++i) error += std::pow(x[i] - row(123)[i], 2) / kDim;
  CHECK(error < .01);  // .006 of a variance of .36, and more
  std::vector<float> many(20 * kDim);
  by_position->reconstruct_n(110, 20, many.data());
  CHECK(std::equal(same.begin(), same.end(), many.begin() + 13 * kDim));
  require_faiss_error("", [&] { index->reconstruct(1, x.data()); });
}

TEST_CASE("Rows are removed, updated and merged", "[faiss][ivf]") {
  auto index = filled_index("Polar2", kInnerProduct);
  const ::faiss::IDSelectorRange range(500, 700);
  CHECK(index->remove_ids(range) == 200);
  CHECK(index->ntotal == kRows - 200);
  const Found left = find(*index, queries(), kK);
  CHECK(std::none_of(left.labels.begin(), left.labels.end(),
                     [](int64_t label) { return label >= 500 && label < 700; }));

  // The rows that are gone, put back from another index.
  auto other = make_index("Polar2", kInnerProduct);
  std::vector<idx_t> ids;
  for (idx_t id = 500; id < 700; ++id) ids.push_back(id);
  other->add_with_ids(200, row(500), ids.data());
  index->check_compatible_for_merge(*other);
  index->merge_from(*other, 0);
  CHECK((index->ntotal == kRows && other->ntotal == 0));
  CHECK(find(*index, queries(), kK) == find(*filled_index("Polar2", kInnerProduct), queries(), kK));

  Options seeded;
  seeded.seed = 2;
  auto rotated = make_index("Polar2", kInnerProduct, seeded);
  require_faiss_error("seed", [&] { index->check_compatible_for_merge(*rotated); });
  auto other_centroids = polarquant::index_factory(kDim, "IVF24,Polar2", kInnerProduct);
  other_centroids->train(kRows - 500, row(500));
  require_faiss_error("", [&] { index->check_compatible_for_merge(*other_centroids); });

  auto updated = filled_index("Polar4", kL2);
  updated->make_direct_map();
  const std::vector<idx_t> which = {5, 77};
  std::vector<float> values(row(900), row(902));
  values.insert(values.end(), row(901), row(902));
  values.resize(2 * kDim);
  updated->update_vectors(2, which.data(), values.data());
  std::vector<float> x(kDim);
  std::vector<float> expected(kDim);
  updated->reconstruct(5, x.data());
  updated->reconstruct(900, expected.data());
  CHECK(x == expected);
}

TEST_CASE("Vectors of inverted files are updated, or nothing is changed", "[faiss][ivf]") {
  const auto type = GENERATE(::faiss::DirectMap::Array, ::faiss::DirectMap::Hashtable);
  auto index = filled_index("Polar4", kL2);
  const std::vector<float> values(row(900), row(903));
  require_faiss_error("direct map", [&] {
    const idx_t id = 5;
    index->update_vectors(1, &id, values.data());
  });
  index->set_direct_map_type(type);
  const std::vector<uint8_t> before = written(*index);
  std::vector<float> bad = values;
  bad[2 * kDim + 1] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<idx_t> which = {5, 77, 5};  // the last of equal ids counts
  const std::vector<idx_t> unknown = {5, 77, kRows};
  require_faiss_error("row 2 column 1 is nan",
                      [&] { index->update_vectors(3, which.data(), bad.data()); });
  require_faiss_error("id 3000 is not",
                      [&] { index->update_vectors(3, unknown.data(), values.data()); });
  require_faiss_error("idx is null", [&] { index->update_vectors(1, nullptr, values.data()); });
  CHECK((written(*index) == before));

  index->update_vectors(3, which.data(), values.data());
  CHECK(index->ntotal == kRows);
  std::vector<float> x(kDim);
  std::vector<float> expected(kDim);
  const auto same = [&](idx_t id, idx_t as) {
    index->reconstruct(id, x.data());
    index->reconstruct(as, expected.data());
    return x == expected;
  };
  CHECK(same(5, 902));
  CHECK(same(77, 901));
  // All other rows are found where they were put.
  const auto untouched = filled_index("Polar4", kL2);
  untouched->make_direct_map();
  for (idx_t id = 0; id < kRows; ++id) {
    if (id == 5 || id == 77) continue;
    index->reconstruct(id, x.data());
    untouched->reconstruct(id, expected.data());
    REQUIRE(x == expected);
  }
}

namespace {

/// Lists whose memory is at its end for one call.
struct FailingLists : ::faiss::ArrayInvertedLists {
  using ArrayInvertedLists::ArrayInvertedLists;
  std::atomic<int> calls_before = -1;  // lists take their rows on several threads

  size_t add_entries(size_t list, size_t n, const idx_t* new_ids,
                     const uint8_t* new_codes) override {
    if (calls_before-- == 0) throw std::bad_alloc();
    return ArrayInvertedLists::add_entries(list, n, new_ids, new_codes);
  }
};

/// A quantizer that finds no list for some rows.
struct BlindQuantizer : ::faiss::IndexFlat {
  using IndexFlat::IndexFlat;
  idx_t unseen_from = 0;

  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params) const override {
    IndexFlat::search(n, x, k, distances, labels, params);
    if (n > unseen_from) std::fill(labels + unseen_from * k, labels + n * k, -1);
  }
};

}  // namespace

TEST_CASE("An update that ends midway leaves the old rows", "[faiss][ivf]") {
  auto index = filled_index("Polar4", kL2);
  FailingLists& failing = take_lists<FailingLists>(*index);
  index->make_direct_map();
  std::vector<float> before(size_t{kRows} * kDim);
  index->reconstruct_n(0, kRows, before.data());
  const auto now = [&] {
    std::vector<float> x(before.size());
    index->reconstruct_n(0, kRows, x.data());
    return x;
  };
  // The lists of some are others afterwards, and one is there twice.
  const std::vector<idx_t> which = {5, 77, 78, 5, 79, 2999};
  const std::vector<float> values(row(900), row(906));
  for (int calls = 0; calls < std::ssize(which); ++calls) {
    failing.calls_before = calls;
    CHECK_THROWS(
        index->update_vectors(static_cast<int>(which.size()), which.data(), values.data()));
    CHECK((now() == before));
    CHECK(index->ntotal == kRows);
  }
  index->update_vectors(static_cast<int>(which.size()), which.data(), values.data());
  const std::vector<float> after = now();
  CHECK(std::equal(&after[5 * kDim], &after[6 * kDim], &before[903 * kDim]));
  CHECK(std::equal(&after[77 * kDim], &after[80 * kDim], after.begin() + 77 * kDim));

  auto* quantizer = new BlindQuantizer(kDim, kL2);
  quantizer->add(static_cast<idx_t>(kLists), row(0));
  const Options options;
  IndexIVFPolar blind(quantizer, kDim, kLists, "Polar4", kL2, options);
  blind.own_fields = true;
  quantizer->unseen_from = kRows;
  blind.train(kRows, rows().data());
  blind.add(kRows, rows().data());
  blind.make_direct_map();
  quantizer->unseen_from = 2;
  require_faiss_error("list -1 for row 2 of x", [&] {
    blind.update_vectors(static_cast<int>(which.size()), which.data(), values.data());
  });
}

}  // namespace polarquant::test
