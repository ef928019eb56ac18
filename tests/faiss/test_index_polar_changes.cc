// SPDX-License-Identifier: MIT
// Rows that are removed, replaced and moved between indexes, alone and inside containers.
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 700;
constexpr int64_t kK = 10;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(20, kDim, 2);
  return values;
}
const float* row(int64_t i) { return rows().data() + i * kDim; }

IndexPolar::Options shared_options() {
  IndexPolar::Options options;
  options.learn_centre = false;
  options.norm_unit = 8;
  return options;
}

/// Rows that the test calls removed.
struct Thirds final : ::faiss::IDSelector {
  int64_t factor;
  explicit Thirds(int64_t id_factor) : factor(id_factor) {}
  bool is_member(int64_t id) const override { return id / factor % 3 == 1; }
};

/// An index of `wanted` rows with ids (or none), coded by the same state.
std::unique_ptr<IndexPolar> index_of(const std::string& spec, const std::vector<int64_t>& wanted,
                                     int64_t id_factor) {
  auto index = std::make_unique<IndexPolar>(kDim, spec, ::faiss::METRIC_L2, shared_options());
  index->train(kRows, rows().data());
  std::vector<float> x;
  std::vector<int64_t> ids;
  for (const int64_t i : wanted) {
    x.insert(x.end(), row(i), row(i) + kDim);
    ids.push_back(i * id_factor);
  }
  const auto n = static_cast<int64_t>(wanted.size());
  if (id_factor == 0) {
    index->add(n, x.data());
  } else {
    index->add_with_ids(n, x.data(), ids.data());
  }
  return index;
}
std::vector<int64_t> run(int64_t first, int64_t end) {
  std::vector<int64_t> all(static_cast<size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

Found everything(const IndexPolar& index) { return find(index, queries(), kRows + 1); }
/// The same with equal scores by rising ids: which row of those is the lower one depends on the
/// order of changes.
Found everything_by_id(const IndexPolar& index) {
  Found found = everything(index);
  for (size_t first = 0, end = 0; first < found.labels.size(); first = end) {
    const size_t query_end = (first / (kRows + 1) + 1) * (kRows + 1);
    for (end = first; end < query_end && found.distances[end] == found.distances[first]; ++end) {
    }
    std::sort(found.labels.begin() + static_cast<ptrdiff_t>(first),
              found.labels.begin() + static_cast<ptrdiff_t>(end));
  }
  return found;
}

TEST_CASE("remove_ids leaves the index of the other rows", "[faiss][changes]") {
  const std::string spec =
      GENERATE("Polar2", "Polar4", "Polar8", "Polar4+2", "PolarScalar4", "PolarPair4x4");
  const int64_t factor = GENERATE(0, 7);
  CAPTURE(spec, factor);
  const auto index = index_of(spec, run(0, kRows), factor);
  std::vector<int64_t> kept;
  const Thirds thirds(std::max<int64_t>(factor, 1));
  for (int64_t i = 0; i < kRows; ++i)
    if (i % 3 != 1) kept.push_back(i);
  CHECK(index->remove_ids(thirds) == static_cast<size_t>(kRows) - kept.size());
  const auto expected = index_of(spec, kept, factor);
  CHECK(index->ntotal == expected->ntotal);
  CHECK(everything_by_id(*index) == everything_by_id(*expected));
  if (factor == 0) CHECK(everything(*index) == everything(*expected));
  if (factor > 0) {
    std::vector<float> x(kDim);
    index->reconstruct(6 * factor, x.data());
    require_faiss_error("id 7 is not", [&] { index->reconstruct(factor, x.data()); });
    const std::vector<int64_t> again = {factor};  // the id of a removed row is free
    index->add_with_ids(1, row(1), again.data());
    expected->add_with_ids(1, row(1), again.data());
  } else {
    index->add(1, row(1));
    expected->add(1, row(1));
  }
  CHECK(everything_by_id(*index) == everything_by_id(*expected));
  index->remove_ids(::faiss::IDSelectorRange(0, 1 << 30));
  CHECK(index->ntotal == 0);
}

TEST_CASE("A selector that throws, and rows coded in groups, change nothing", "[faiss][changes]") {
  struct Throwing final : ::faiss::IDSelector {
    bool is_member(int64_t id) const override {
      if (id == 500) throw std::runtime_error("500");
      return true;
    }
  };
  const auto index = index_of("Polar2", run(0, kRows), 0);
  const Found before = everything(*index);
  CHECK_THROWS_AS(index->remove_ids(Throwing()), std::runtime_error);
  CHECK(everything(*index) == before);
  IndexPolar groups(kDim, "PolarPair4x4g128");
  groups.train(kRows, rows().data());
  groups.add(kRows, rows().data());
  require_faiss_error("128 rows together", [&] { groups.remove_ids(Thirds(1)); });
}

TEST_CASE("update_vectors codes rows in place", "[faiss][changes]") {
  const std::string spec = GENERATE("Polar2", "PolarScalar4");
  const int64_t factor = GENERATE(0, 7);
  const auto index = index_of(spec, run(0, 300), factor);
  std::vector<int64_t> wanted = run(0, 300);
  const int64_t scale = std::max<int64_t>(factor, 1);
  std::vector<int64_t> keys;
  std::vector<float> x;
  for (const int64_t i : {5, 299, 64, 5}) {
    keys.push_back(i * scale);
    const int64_t from = 400 + static_cast<int64_t>(keys.size());
    x.insert(x.end(), row(from), row(from) + kDim);
    wanted[static_cast<size_t>(i)] = from;
  }
  index->update_vectors(4, keys.data(), x.data());
  auto expected = index_of(spec, wanted, 0);
  Found found = everything(*expected);
  for (int64_t& label : found.labels) label = label < 0 ? label : label * scale;
  CHECK(everything(*index) == found);
  const Found before = everything(*index);
  const std::vector<int64_t> unknown = {0, 300 * scale};
  require_faiss_error("update_vectors: id 300", [&] {
    expected->update_vectors(2, std::vector<int64_t>{0, 300}.data(), x.data());
  });
  x[kDim + 3] = NAN;
  require_faiss_error("row 1 column 3 is nan",
                      [&] { index->update_vectors(2, keys.data(), x.data()); });
  CHECK(everything(*index) == before);
}

TEST_CASE("merge_from moves rows of the same state", "[faiss][changes]") {
  const std::string spec = GENERATE("Polar2", "Polar8", "PolarScalar4");
  const int64_t factor = GENERATE(0, 7);
  const auto index = index_of(spec, run(0, 333), factor);
  const auto other = index_of(spec, run(333, kRows), factor);
  index->check_compatible_for_merge(*other);
  index->merge_from(*other);
  CHECK(other->ntotal == 0);
  CHECK(everything(*index) == everything(*index_of(spec, run(0, kRows), factor)));
  if (factor == 0) return;
  const auto shifted = index_of(spec, {1, 2}, factor);
  const Found before = everything(*index);
  require_faiss_error("id 7 of other", [&] { index->merge_from(*shifted); });
  require_faiss_error("outside 0", [&] { index->merge_from(*shifted, INT64_MAX); });
  require_faiss_error("outside 0", [&] { index->merge_from(*shifted, -20); });
  CHECK(everything(*index) == before);
  CHECK(shifted->ntotal == 2);
  index->merge_from(*shifted, 1000000);
  std::vector<float> x(kDim);
  index->reconstruct(1000007, x.data());
}

TEST_CASE("Codes of different states never mix", "[faiss][changes]") {
  const auto index = index_of("Polar2", run(0, 100), 0);
  const auto same = index_of("Polar2", run(0, 10), 7);
  require_faiss_error("have ids of their own", [&] { index->merge_from(*same); });
  require_faiss_error("add_id is 5", [&] { index->merge_from(*index_of("Polar2", {1}, 0), 5); });
  const auto spec = index_of("Polar4", run(0, 10), 0);
  require_faiss_error("spec", [&] { index->merge_from(*spec); });
  IndexPolar::Options options = shared_options();
  options.seed = 2;
  IndexPolar seed(kDim, "Polar2", ::faiss::METRIC_L2, options);
  seed.train(kRows, rows().data());
  require_faiss_error("seed", [&] { index->check_compatible_for_merge(seed); });
  ::faiss::IndexFlat flat(kDim);
  require_faiss_error("no IndexPolar", [&] { index->merge_from(flat); });
  require_faiss_error("itself", [&] { index->merge_from(*index); });
  CHECK(index->ntotal == 100);
}

TEST_CASE("Containers pass removal, update and merge on", "[faiss][changes]") {
  const std::string description = GENERATE("IDMap,Polar4", "IDMap2,Polar4", "L2norm,IDMap2,Polar4");
  CAPTURE(description);
  const auto make = [&](int64_t first, int64_t end) {
    auto index = index_factory(kDim, description, ::faiss::METRIC_INNER_PRODUCT);
    index->train(kRows, rows().data());
    std::vector<int64_t> ids;
    for (int64_t i = first; i < end; ++i) ids.push_back(7 * i);
    index->add_with_ids(end - first, row(first), ids.data());
    return index;
  };
  const auto index = make(0, 400);
  const auto other = make(400, kRows);
  index->merge_from(*other);
  CHECK(find(*index, queries(), kK) == find(*make(0, kRows), queries(), kK));
  CHECK(other->ntotal == 0);
  index->remove_ids(::faiss::IDSelectorRange(7 * 350, 7 * kRows));
  CHECK(find(*index, queries(), kK) == find(*make(0, 350), queries(), kK));
  const std::vector<int64_t> keys = {7 * 349, 7};
  update_vectors(*index, 2, keys.data(), row(500));
  CHECK(find(*index, {row(500), row(500) + kDim}, 1).labels[0] == 7 * 349);
  require_faiss_error("id 1 is",
                      [&] { update_vectors(*index, 1, std::vector<int64_t>{1}.data(), row(0)); });
  const auto refine = index_factory(kDim, "Polar2,RFlat", ::faiss::METRIC_L2);
  require_faiss_error("id 2443 is not in the index",
                      [&] { update_vectors(*refine, 1, keys.data(), row(0)); });
}

}  // namespace
}  // namespace polarquant::test
