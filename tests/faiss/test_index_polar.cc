// SPDX-License-Identifier: MIT
// IndexPolar against IndexFlat, and its promises about errors, ids, selectors, threads and forks.
#include <faiss/IndexHNSW.h>

#include <cmath>
#include <limits>
#include <memory>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "src/core/threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/foreign/faiss_error.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"
#include "tests/support/forked_child.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 1500;
constexpr int64_t kQueries = 40;
constexpr int64_t kK = 10;
constexpr ::faiss::MetricType kInnerProduct = ::faiss::METRIC_INNER_PRODUCT;
constexpr ::faiss::MetricType kL2 = ::faiss::METRIC_L2;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}
const std::vector<float>& queries() {
  static const std::vector<float> values = clustered_rows(kQueries, kDim, 2);
  return values;
}

/// Codec state and every row's answer: equal before and after exactly when nothing changed.
struct Snapshot {
  std::vector<uint8_t> state;
  int64_t ntotal;
  Found found;

  bool operator==(const Snapshot&) const = default;
};
Snapshot snapshot(const IndexPolar& index) {
  return {index.codec().save_state(), index.ntotal, find(index, queries(), kK)};
}

struct Quality {
  const char* spec;
  double least_recall;
};

TEST_CASE("IndexPolar finds what IndexFlat finds", "[faiss]") {
  const Quality quality =
      GENERATE(Quality{"Polar1", .32}, Quality{"Polar2", .54}, Quality{"Polar4", .85},
               Quality{"Polar8", .97}, Quality{"Polar2+2", .80}, Quality{"Polar4-dense", .85},
               Quality{"PolarTree4.2.2.2", .5}, Quality{"PolarPair4x4", .70},
               Quality{"PolarPair4x4g128", .70}, Quality{"PolarScalar4", .68});
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  const bool train = GENERATE(false, true);
  INFO(quality.spec << " metric " << metric << " train " << train);
  IndexPolar index(kDim, quality.spec, metric);
  if (train) {
    index.train(kRows, rows().data());
  } else if (!index.is_trained) {
    require_faiss_error("is not trained", [&] { index.add(kRows, rows().data()); });
    return;
  }
  REQUIRE(index.is_trained);
  index.add(kRows, rows().data());
  REQUIRE(index.ntotal == kRows);
  const Found truth = find_exactly(rows(), queries(), kDim, kK, metric);
  const Found found = find(index, queries(), kK);
  const double share = recall(found, truth, kK);
  INFO("recall " << share);
  CHECK(share >= quality.least_recall);
  for (size_t i = 1; i < found.distances.size(); ++i) {
    if (i % kK == 0) continue;
    if (metric == kL2) {
      CHECK(found.distances[i - 1] <= found.distances[i]);
    } else {
      CHECK(found.distances[i - 1] >= found.distances[i]);
    }
  }
}

TEST_CASE("IndexPolar's distances are close to the true ones", "[faiss]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  IndexPolar index(kDim, "Polar8", metric);
  index.add(kRows, rows().data());
  ::faiss::IndexFlat flat(kDim, metric);
  flat.add(kRows, rows().data());
  const Found truth = find(flat, queries(), kRows);
  const Found found = find(index, queries(), kRows);
  for (int64_t q = 0; q < kQueries; ++q) {
    std::vector<float> exact(kRows);
    for (int64_t i = 0; i < kRows; ++i) {
      const auto at = static_cast<size_t>(q * kRows + i);
      exact[static_cast<size_t>(truth.labels[at])] = truth.distances[at];
    }
    for (int64_t i = 0; i < kRows; ++i) {
      const auto at = static_cast<size_t>(q * kRows + i);
      // .65 % error a coordinate (MSE 4.2e-5) times the lengths of query and row, about 9 each.
      REQUIRE(std::abs(found.distances[at] - exact[static_cast<size_t>(found.labels[at])]) < 2.5F);
    }
  }
}

TEST_CASE("IndexPolar names what it refuses to be", "[faiss]") {
  require_faiss_error("METRIC_L1", [] { IndexPolar(kDim, "Polar4", ::faiss::METRIC_L1); });
  require_faiss_error("L2norm,", [] { IndexPolar(kDim, "Polar4", ::faiss::METRIC_Linf); });
  // 30 is no metric, but a value that the enumeration can have.
  require_faiss_error("30",
                      [] { IndexPolar(kDim, "Polar4", static_cast<::faiss::MetricType>(30)); });
  require_faiss_error("PolarX", [] { IndexPolar(kDim, "PolarX"); });
  require_faiss_error("Flat", [] { IndexPolar(kDim, "Flat"); });
  require_faiss_error("dim", [] { IndexPolar(0, "Polar4"); });
  IndexPolar::Options options;
  options.centre = {1, 2, 3};
  require_faiss_error("centre", [&] { IndexPolar(kDim, "Polar4", kL2, options); });
}

TEST_CASE("IndexPolar describes itself", "[faiss]") {
  IndexPolar index(kDim, "Polar4", kInnerProduct);
  CHECK(index.spec() == "Polar4");
  CHECK(index.d == kDim);
  CHECK(index.metric_type == kInnerProduct);
  CHECK(index.is_trained);
  CHECK(index.ntotal == 0);
  CHECK(!IndexPolar(kDim, "PolarPair4x4").is_trained);
  const size_t empty = index.memory_bytes();
  index.add(kRows, rows().data());
  const size_t codes = static_cast<size_t>(kRows) * index.sa_code_size();
  CHECK(index.memory_bytes() >= empty + codes);
  CHECK(index.memory_bytes() <= empty + codes + codes / 8);
}

TEST_CASE("IndexPolar pads where there are fewer than k rows", "[faiss]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  const float worst = metric == kL2 ? std::numeric_limits<float>::infinity()
                                    : -std::numeric_limits<float>::infinity();
  IndexPolar index(kDim, "Polar4", metric);
  const Found none = find(index, queries(), 3);
  CHECK(none.labels == std::vector<int64_t>(kQueries * 3, -1));
  CHECK(none.distances == std::vector<float>(kQueries * 3, worst));
  index.add(5, rows().data());
  const Found found = find(index, queries(), 8);
  for (size_t i = 0; i < found.labels.size(); ++i) {
    CHECK((found.labels[i] == -1) == (i % 8 >= 5));
    CHECK((found.distances[i] == worst) == (i % 8 >= 5));
  }
}

TEST_CASE("IndexPolar takes no rows and no queries", "[faiss]") {
  IndexPolar index(kDim, "Polar4");
  index.add(0, nullptr);
  index.add_with_ids(0, nullptr, nullptr);
  CHECK(index.ntotal == 0);
  CHECK(index.codec().origin() == StateOrigin::initial);
  index.search(0, nullptr, 1, nullptr, nullptr);
  index.reconstruct_n(0, 0, nullptr);
  index.sa_encode(0, nullptr, nullptr);
  index.sa_decode(0, nullptr, nullptr);
}

TEST_CASE("An error leaves IndexPolar as it was", "[faiss]") {
  const bool with_ids = GENERATE(false, true);
  IndexPolar index(kDim, GENERATE("Polar4", "PolarPair4x4g128"));
  if (!index.is_trained) index.train(kRows, rows().data());
  const auto add = [&](int64_t n, const float* x, int64_t first_id) {
    std::vector<int64_t> ids(static_cast<size_t>(n));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = first_id + static_cast<int64_t>(i);
    if (with_ids) {
      index.add_with_ids(n, x, ids.data());
    } else {
      index.add(n, x);
    }
  };
  std::vector<float> bad(rows().begin(), rows().begin() + 300 * kDim);
  bad[207 * kDim + 5] =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity());

  const Snapshot empty = snapshot(index);
  require_faiss_error("row 207", [&] { add(300, bad.data(), 0); });
  CHECK(snapshot(index).state == empty.state);
  CHECK(index.ntotal == 0);

  add(200, rows().data(), 1000);
  const Snapshot before = snapshot(index);
  require_faiss_error("row 207", [&] { add(300, bad.data(), 2000); });
  require_faiss_error("n is -1", [&] {
    if (with_ids) index.add_with_ids(-1, bad.data(), nullptr);
    index.add(-1, bad.data());
  });
  require_faiss_error("k is 0", [&] { find(index, queries(), 0); });
  require_faiss_error("row 207", [&] { find(index, bad, 1); });
  require_faiss_error("row 207", [&] { index.train(300, bad.data()); });
  if (index.rows_as_floats() == 0)
    require_faiss_error("encoded rows already", [&] { index.train(kRows, rows().data()); });
  CHECK(snapshot(index) == before);
  add(200, rows().data() + 200 * kDim, 2000);
  CHECK(index.ntotal == 400);
}

TEST_CASE("A first add that fails teaches IndexPolar nothing", "[faiss]") {
  // Finite, but longer than rows may be.
  std::vector<float> outlier = rows();
  for (int i = 0; i < kDim; ++i) outlier[static_cast<size_t>(499 * kDim + i)] *= 1e25F;
  IndexPolar index(kDim, "Polar2", kL2);
  const std::vector<uint8_t> state = index.codec().save_state();
  require_faiss_error("row 499", [&] { index.add(kRows, outlier.data()); });
  CHECK(index.codec().save_state() == state);
  CHECK(index.ntotal == 0);
  index.train(kRows, rows().data());  // not refused: nothing was coded
  index.add(kRows, rows().data());
  CHECK(index.ntotal == kRows);
}

TEST_CASE("IndexPolar keeps ids", "[faiss]") {
  IndexPolar plain(kDim, "Polar4");
  IndexPolar index(kDim, "Polar4");
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = (i * 7919) % kRows * 1000003;
  plain.add(kRows, rows().data());
  index.add_with_ids(1000, rows().data(), ids.data());
  index.add_with_ids(kRows - 1000, rows().data() + 1000 * kDim, ids.data() + 1000);
  REQUIRE(index.ntotal == kRows);

  SECTION("search gives them") {
    IndexPolar same_state(kDim, "Polar4");
    same_state.add(1000, rows().data());
    same_state.add(kRows - 1000, rows().data() + 1000 * kDim);
    Found expected = find(same_state, queries(), kK);
    for (int64_t& label : expected.labels) label = ids[static_cast<size_t>(label)];
    CHECK(find(index, queries(), kK) == expected);
  }
  SECTION("reconstruct takes them") {
    std::vector<float> one(kDim);
    index.reconstruct(ids[1234], one.data());
    double error = 0;
    for (size_t i = 0; i < kDim; ++i) error += std::pow(one[i] - rows()[1234 * kDim + i], 2);
    CHECK(error / kDim < .05);
    require_faiss_error("id 5", [&] { index.reconstruct(5, one.data()); });
    try {
      index.reconstruct(-1, one.data());
      FAIL("no error");
    } catch (const FaissError& failure) {
      CHECK(failure.code() == StatusCode::not_found);
    }
  }
  SECTION("reconstruct_n takes a run of them") {
    IndexPolar runs(kDim, "Polar4");
    const std::vector<int64_t> run = {12, 10, 11, 13};
    runs.add_with_ids(4, rows().data(), run.data());
    std::vector<float> all(4 * kDim);
    std::vector<float> one(kDim);
    runs.reconstruct_n(10, 4, all.data());
    for (int64_t i = 0; i < 4; ++i) {
      runs.reconstruct(10 + i, one.data());
      CHECK(std::equal(one.begin(), one.end(), all.begin() + i * kDim));
    }
    require_faiss_error("id 14", [&] { runs.reconstruct_n(12, 3, all.data()); });
    require_faiss_error(
        "i0", [&] { runs.reconstruct_n(std::numeric_limits<int64_t>::max(), 2, all.data()); });
  }
  SECTION("they must be new, 0 or more, and not mixed with rows without") {
    const Snapshot before = snapshot(index);
    const std::vector<int64_t> taken_ids = {3000000000000, ids[77]};
    require_faiss_error("xids[1]", [&] { index.add_with_ids(2, rows().data(), taken_ids.data()); });
    const std::vector<int64_t> twice = {5, 6, 5};
    require_faiss_error("xids[2] is 5",
                        [&] { index.add_with_ids(3, rows().data(), twice.data()); });
    const std::vector<int64_t> negative = {5, -6};
    require_faiss_error("xids[1] is -6",
                        [&] { index.add_with_ids(2, rows().data(), negative.data()); });
    require_faiss_error("only add_with_ids", [&] { index.add(1, rows().data()); });
    require_faiss_error("only add can",
                        [&] { plain.add_with_ids(1, rows().data(), taken_ids.data()); });
    CHECK(snapshot(index) == before);
    index.add_with_ids(1, rows().data(), taken_ids.data());  // was not kept by the failed call
    CHECK(index.ntotal == kRows + 1);
    index.reset();
    CHECK(index.ntotal == 0);
    index.add(3, rows().data());
    CHECK(find(index, queries(), 1).labels[0] < 3);
  }
}

TEST_CASE("IndexPolar honours selectors of ids", "[faiss]") {
  const bool with_ids = GENERATE(false, true);
  IndexPolar index(kDim, "Polar4");
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = with_ids ? 10 * i : i;
  if (with_ids) {
    index.add_with_ids(kRows, rows().data(), ids.data());
  } else {
    index.add(kRows, rows().data());
  }
  ::faiss::IDSelectorRange range(200, 1200);
  ::faiss::SearchParameters params;
  params.sel = &range;
  const Found all = find(index, queries(), kRows);
  const Found chosen = find(index, queries(), kK, &params);
  for (int64_t q = 0; q < kQueries; ++q) {
    int64_t rank = q * kRows;
    for (int64_t i = q * kK; i < (q + 1) * kK; ++i) {
      while (!range.is_member(all.labels[static_cast<size_t>(rank)])) ++rank;
      CHECK(range.is_member(chosen.labels[static_cast<size_t>(i)]));
      // Rows are ranked by int8 values: a row may stand for one that is a little nearer.
      const float nearest = all.distances[static_cast<size_t>(rank)];
      CHECK(std::fabs(chosen.distances[static_cast<size_t>(i)] - nearest) <= .02F * (1 + nearest));
      ++rank;
    }
  }
  ::faiss::IDSelectorRange nothing(7, 7);
  params.sel = &nothing;
  CHECK(find(index, queries(), 1, &params).labels == std::vector<int64_t>(kQueries, -1));
  params.sel = nullptr;
  CHECK(find(index, queries(), kRows, &params) == all);
}

TEST_CASE("IndexPolar's results do not depend on the number of threads", "[faiss]") {
  const int before = polarquant::default_threads();
  std::vector<Found> found;
  for (const int threads : {1, 2, 3, 8}) {
    polarquant::set_default_threads(threads);
    IndexPolar index(kDim, "Polar3", kInnerProduct);
    index.add(kRows, rows().data());
    found.push_back(find(index, queries(), kK));
    std::vector<float> decoded(static_cast<size_t>(kRows * kDim));
    index.reconstruct_n(0, kRows, decoded.data());
    found.push_back({decoded, {}});
  }
  polarquant::set_default_threads(before);
  for (size_t i = 2; i < found.size(); ++i) CHECK(found[i] == found[i % 2]);
}

TEST_CASE("A fork()ed child searches and adds after a threaded search", "[faiss]") {
  const int before = polarquant::default_threads();
  polarquant::set_default_threads(4);
  IndexPolar index(kDim, "Polar4");
  index.add(kRows, rows().data());
  const Found found = find(index, queries(), kK);
  CHECK(run_in_child([&] {
          if (find(index, queries(), kK) != found) return false;
          index.add(kRows, rows().data());
          return index.ntotal == 2 * kRows;
        }) == ChildEnd::right);
  polarquant::set_default_threads(before);
}

TEST_CASE("IndexPolar's distance computer agrees with its search", "[faiss]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  IndexPolar index(kDim, "Polar4", metric);
  index.add(kRows, rows().data());
  const std::unique_ptr<::faiss::DistanceComputer> computer(index.get_distance_computer());
  const Found found = find(index, queries(), kK);
  for (int64_t q = 0; q < kQueries; ++q) {
    computer->set_query(queries().data() + q * kDim);
    for (int64_t i = q * kK; i < (q + 1) * kK; ++i) {
      const auto at = static_cast<size_t>(i);
      CHECK((*computer)(found.labels[at]) == found.distances[at]);
    }
  }
  for (int64_t i = 0; i < 20; ++i) {
    CHECK(computer->symmetric_dis(i, i + 1) == computer->symmetric_dis(i + 1, i));
    float exact = 0;
    for (size_t j = 0; j < kDim; ++j) {
      const float a = rows()[static_cast<size_t>(i) * kDim + j];
      const float b = rows()[static_cast<size_t>(i + 1) * kDim + j];
      exact += metric == kL2 ? (a - b) * (a - b) : a * b;
    }
    CHECK(std::abs(computer->symmetric_dis(i, i + 1) - exact) < 25);
  }
}

TEST_CASE("IndexPolar works as the storage of FAISS's HNSW", "[faiss]") {
  const ::faiss::MetricType metric = GENERATE(kInnerProduct, kL2);
  IndexPolar index(kDim, "Polar4", metric);
  ::faiss::IndexHNSW graph(&index, 16);
  graph.add(kRows, rows().data());
  graph.hnsw.efSearch = 100;
  const Found flat = find(index, queries(), kK);
  CHECK(recall(find(graph, queries(), kK), flat, kK) > .9);
}

TEST_CASE("reset keeps IndexPolar's state", "[faiss]") {
  IndexPolar index(kDim, "Polar4");
  index.add(kRows, rows().data());
  const Snapshot before = snapshot(index);
  index.reset();
  CHECK(index.ntotal == 0);
  require_faiss_error("", [&] { index.train(kRows, rows().data()); });
  index.add(1000, rows().data());
  index.add(kRows - 1000, rows().data() + 1000 * kDim);
  CHECK(snapshot(index).state == before.state);
  CHECK(snapshot(index).found == before.found);
}

}  // namespace
}  // namespace polarquant::test
