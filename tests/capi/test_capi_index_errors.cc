// SPDX-License-Identifier: MIT
// Index calls with arguments that are not allowed: the status, a text that names the argument, its
// value and what is allowed, and an index that is as it was.
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 60;

void check_create_fails(const char* description, int32_t dim, polar_metric metric,
                        const std::vector<std::string>& parts,
                        polar_status expected = POLAR_ERROR_BAD_ARGUMENT) {
  auto* index = reinterpret_cast<polar_index*>(8);  // must become NULL
  INFO("description: " << (description == nullptr ? "NULL"
                                                  : std::string(description).substr(0, 80)));
  check_failed(polar_index_create(description, dim, metric, &index), expected, parts);
  CHECK(index == nullptr);
}

/// An index with rows, and a look at it from outside that a refused call must not change.
struct Fixture {
  explicit Fixture(const char* text = "Polar2", bool with_ids = false)
      : description(text),
        x(normal_rows(kRows, kDim, 1)),
        index(make_index(text, kDim, POLAR_METRIC_L2)) {
    require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
    for (int64_t i = 0; i < kRows; ++i) ids.push_back(with_ids ? 500 + i : i);
    if (with_ids) {
      require_ok(polar_index_add_with_ids(index.get(), kRows, x.data(), ids.data(), nullptr));
    } else {
      require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    }
    before = look();
  }

  std::vector<double> look() const {
    constexpr int64_t kQueries = 5, kK = kRows + 1;
    std::vector<float> scores(kQueries * kK);
    std::vector<int64_t> found(kQueries * kK);
    require_ok(polar_index_search(index.get(), kQueries, x.data(), kK, nullptr, scores.data(),
                                  found.data()));
    std::vector<double> seen(scores.begin(), scores.end());
    seen.insert(seen.end(), found.begin(), found.end());
    seen.push_back(static_cast<double>(polar_index_ntotal(index.get())));
    return seen;
  }
  void check_unchanged() const {
    INFO(description);
    CHECK(look() == before);
  }

  std::string description;
  std::vector<float> x;
  std::vector<int64_t> ids;
  IndexHandle index;
  std::vector<double> before;
  std::vector<float> out = std::vector<float>(kRows * kRows);
  std::vector<int64_t> out_ids = std::vector<int64_t>(kRows * kRows);
};

}  // namespace

TEST_CASE("create refuses a wrong description", "[capi]") {
  const polar_metric l2 = POLAR_METRIC_L2;
  check_create_fails(nullptr, kDim, l2, {"description: NULL is not allowed"});
  check_create_fails("", kDim, l2, {"description"});
  check_create_fails("Polar7", kDim, l2, {"\"Polar7\"", "\"7\"", "0.5"});
  check_create_fails("PCA8,Polar2-fast", kDim, l2, {"\"fast\"", "-dense"});
  check_create_fails("Squeeze8,Polar2", kDim, l2, {"Squeeze8,Polar2"});
  check_create_fails("Nonsense", kDim, l2, {"description: ", "Nonsense"});
  check_create_fails("IDMap2", kDim, l2, {"description: ", "IDMap2"});
  check_create_fails("IVF4(Flat", kDim, l2, {"description: "});
  check_create_fails("PQ5", kDim, l2, {"description: "});  // 16 is no multiple of 5
  check_create_fails("IVF99999999999,Flat", kDim, l2, {"description: ", "99999999999", "1048576"});
  for (const char* zero : {"PQ0", "IVF0,Flat", "HNSW0,Flat", "PCA00,Polar2", "IVF4(HNSW0),Flat",
                           "Polar2,Refine(PQ0)", "PQ0x4", "OPQ4_0,PQ4"}) {
    check_create_fails(zero, kDim, l2, {"description: ", "has 0 ", "are allowed"});
  }
  check_create_fails(std::string(1001, 'P').c_str(), kDim, l2,
                     {"description: 1001 bytes", "at most 1000"});
}

TEST_CASE("a zero inside one of our names is no zero to FAISS", "[capi]") {
  for (const char* description :
       {"Polar0.5", "PCA10,Polar0.5", "HNSW10,Flat", "Polar2,Refine(SQ8)"}) {
    make_index(description, kDim, POLAR_METRIC_L2);
  }
}

TEST_CASE("create refuses a wrong dim, metric or out", "[capi]") {
  for (const int32_t dim : {0, -1, 65536}) {
    for (const char* description : {"Polar2", "Flat"}) {
      check_create_fails(description, dim, POLAR_METRIC_L2,
                         {"dim: " + std::to_string(dim) + " is not allowed; 1 to 65535"});
    }
  }
  check_create_fails("Polar2", kDim, -1, {"metric: -1 is not allowed"});
  check_create_fails("Polar2", kDim, 3, {"metric: 3 is not allowed"});
  check_failed(polar_index_create("Polar2", kDim, 0, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"out: NULL is not allowed"});
}

TEST_CASE("index calls refuse NULL", "[capi]") {
  Fixture f;
  float* out = f.out.data();
  int64_t* ids = f.out_ids.data();
  size_t bytes = 0;
  const auto refused = [](polar_status status, const std::string& name) {
    check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {name + ": NULL is not allowed"});
  };
  refused(polar_index_train(nullptr, 1, f.x.data(), nullptr), "index");
  refused(polar_index_add(nullptr, 1, f.x.data(), nullptr), "index");
  refused(polar_index_add_with_ids(nullptr, 1, f.x.data(), ids, nullptr), "index");
  refused(polar_index_search(nullptr, 1, f.x.data(), 1, nullptr, out, ids), "index");
  refused(polar_index_code_size(nullptr, &bytes), "index");
  refused(polar_index_reconstruct(nullptr, 0, out), "index");
  CHECK(polar_index_ntotal(nullptr) == 0);
  CHECK(polar_index_is_trained(nullptr) == 0);
  polar_index_info info = {};
  refused(polar_index_get_info(nullptr, &info), "index");
  refused(polar_index_get_info(f.index.get(), nullptr), "info");
  check_failed(polar_index_get_info(f.index.get(), &info), POLAR_ERROR_BAD_ARGUMENT,
               {"info.struct_size: 0 is not allowed"});
  char text[4];
  CHECK(polar_index_description(nullptr, text, sizeof text) == 0);
  refused(polar_index_train(f.index.get(), 1, nullptr, nullptr), "x");
  refused(polar_index_add(f.index.get(), 1, nullptr, nullptr), "x");
  refused(polar_index_add_with_ids(f.index.get(), 1, nullptr, ids, nullptr), "x");
  refused(polar_index_add_with_ids(f.index.get(), 1, f.x.data(), nullptr, nullptr), "ids");
  refused(polar_index_search(f.index.get(), 1, nullptr, 1, nullptr, out, ids), "queries");
  refused(polar_index_search(f.index.get(), 1, f.x.data(), 1, nullptr, nullptr, ids), "scores");
  refused(polar_index_search(f.index.get(), 1, f.x.data(), 1, nullptr, out, nullptr), "ids");
  refused(polar_index_code_size(f.index.get(), nullptr), "bytes");
  refused(polar_index_reconstruct(f.index.get(), 0, nullptr), "x");
  f.check_unchanged();
}

TEST_CASE("index calls refuse wrong counts", "[capi]") {
  Fixture f;
  float* out = f.out.data();
  int64_t* ids = f.out_ids.data();
  polar_index* index = f.index.get();
  const auto refused = [](polar_status status, const std::string& part) {
    check_failed(status, POLAR_ERROR_BAD_ARGUMENT, {part});
  };
  refused(polar_index_train(index, 0, f.x.data(), nullptr), "n: 0 is not allowed; 1 or more");
  refused(polar_index_add(index, -1, f.x.data(), nullptr), "n: -1 is not allowed; 0 or more");
  refused(polar_index_add(index, INT64_MAX, f.x.data(), nullptr), "does not fit");
  refused(polar_index_add_with_ids(index, -1, f.x.data(), ids, nullptr),
          "n: -1 is not allowed; 0 or more");
  refused(polar_index_search(index, -1, f.x.data(), 1, nullptr, out, ids), "nq: -1 is not allowed");
  for (const int64_t k : {int64_t{0}, int64_t{-5}}) {
    refused(polar_index_search(index, 1, f.x.data(), k, nullptr, out, ids),
            "k: " + std::to_string(k) + " is not allowed; 1 or more");
  }
  refused(polar_index_search(index, 1, f.x.data(), INT64_MAX, nullptr, out, ids), "does not fit");
  for (const int32_t threads : {-1, 1025}) {
    const std::string text = "num_threads: " + std::to_string(threads) + " is not allowed; 0";
    const polar_search_options searching = searching_on(threads);
    const polar_work_options working = working_on(threads);
    refused(polar_index_search(index, 1, f.x.data(), 1, &searching, out, ids), text);
    refused(polar_index_train(index, 1, f.x.data(), &working), text);
    refused(polar_index_add(index, 1, f.x.data(), &working), text);
    refused(polar_index_add_with_ids(index, 1, f.x.data(), ids, &working), text);
    refused(polar_index_update(index, 1, ids, f.x.data(), &working), text);
    refused(polar_index_merge(index, index, &working), text);
  }
  f.check_unchanged();
}

TEST_CASE("index calls refuse numbers that are not finite and leave the index as it was",
          "[capi]") {
  for (const char* description : {"Polar2", "PCA8,Polar4", "Polar2,RFlat", "Flat", "IVF4,Flat"}) {
    Fixture f(description);
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      std::vector<float> x = f.x;
      x[static_cast<size_t>((kRows - 1) * kDim + 2)] = bad;
      const std::vector<std::string> parts = {"row 59 column 2 is ", "finite"};
      check_failed(polar_index_add(f.index.get(), kRows, x.data(), nullptr),
                   POLAR_ERROR_BAD_ARGUMENT, parts);
      check_failed(polar_index_search(f.index.get(), kRows, x.data(), 1, nullptr, f.out.data(),
                                      f.out_ids.data()),
                   POLAR_ERROR_BAD_ARGUMENT, parts);
      const IndexHandle fresh = make_index(description, kDim, POLAR_METRIC_L2);
      check_failed(polar_index_train(fresh.get(), kRows, x.data(), nullptr),
                   POLAR_ERROR_BAD_ARGUMENT, parts);
    }
    f.check_unchanged();
  }
}

TEST_CASE("rows too long for scores are refused and leave the index as it was", "[capi]") {
  for (const char* description : {"Polar2", "IDMap2,Polar2", "Polar2,RFlat"}) {
    const bool with_ids = std::string(description).starts_with("IDMap2");
    Fixture f(description, with_ids);
    std::vector<float> x = f.x;
    for (int64_t i = 0; i < kDim; ++i) x[static_cast<size_t>(40 * kDim + i)] *= 1e19f;
    std::vector<int64_t> ids(kRows);
    for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 9000 + i;
    check_failed(with_ids
                     ? polar_index_add_with_ids(f.index.get(), kRows, x.data(), ids.data(), nullptr)
                     : polar_index_add(f.index.get(), kRows, x.data(), nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"row 40"});
    f.check_unchanged();
    if (with_ids) {  // the ids of the refused rows are free
      require_ok(polar_index_add_with_ids(f.index.get(), 1, f.x.data(), ids.data(), nullptr));
    }
  }
}

TEST_CASE("calls on an untrained index say so", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  std::vector<float> out(kRows);
  std::vector<int64_t> ids(kRows);
  for (const char* description : {"PolarPair4x4", "PCA8,Polar2", "IVF4,Flat", "IDMap2,PQ4"}) {
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    CHECK(polar_index_is_trained(index.get()) == 0);
    const std::vector<polar_status> statuses = {
        polar_index_add(index.get(), kRows, x.data(), nullptr),
        polar_index_add_with_ids(index.get(), 1, x.data(), ids.data(), nullptr),
        polar_index_search(index.get(), 1, x.data(), 1, nullptr, out.data(), ids.data())};
    for (const polar_status status : statuses) {
      check_failed(status, POLAR_ERROR_NOT_TRAINED,
                   {description, "not trained", "polar_index_train"});
    }
    CHECK(polar_index_ntotal(index.get()) == 0);
  }
}

TEST_CASE("too few rows to train on are counted before FAISS sees them", "[capi]") {
  struct Row {
    const char* description;
    int64_t needed;
    const char* what;
  };
  const Row rows[] = {
      {"IVF7,Polar4", 7, "its 7 lists need 7 or more, and do well from 273 on"},
      {"IDMap2,IVF7,Polar4", 7, "7 lists"},
      {"PCA4,IVF7,Polar4", 7, "7 lists"},
      {"PCA6,IVF3,Flat", 6, "PCA to 6 dimensions needs 6 or more"},
      {"IVF7_HNSW4,Polar4", 7, "7 lists"},
      {"PQ2x4np", 16, "16 centroids of a product quantizer need 16 or more"},
      {"HNSW4_PQ2", 256, "256 centroids of a product quantizer"},
      {"IVF2,PQ2x5np", 32, "32 centroids"},
      {"PQ2x4fs", 16, "16 centroids"},
      {"IVF2,PQ2x4fs", 16, "16 centroids"},
      {"OPQ2,IVF2,Flat", 256, "256 centroids of OPQ's product quantizer"},
      {"PQ2,RFlat", 256, "256 centroids"},
  };
  const std::vector<float> x = normal_rows(256, kDim, 4);
  for (const Row& row : rows) {
    INFO(row.description);
    const IndexHandle index = make_index(row.description, kDim, POLAR_METRIC_L2);
    const std::string told = "n: " + std::to_string(row.needed - 1) + " training rows are too few";
    check_failed(polar_index_train(index.get(), row.needed - 1, x.data(), nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {told.c_str(), row.description, row.what});
    CHECK(polar_index_is_trained(index.get()) == 0);
    CHECK(polar_index_train(index.get(), row.needed, x.data(), nullptr) == POLAR_OK);
  }
}

TEST_CASE("errors of FAISS's are told without its source", "[capi]") {
  const auto told_plainly = [](polar_status status) {
    CHECK(status != POLAR_OK);
    const std::string text = last_error();
    INFO(text);
    for (const char* raw : {"Error in", "faiss::", ".cpp", "failed"})
      CHECK(text.find(raw) == std::string::npos);
  };
  polar_index* none = nullptr;
  for (const char* description : {"LSH", "PQ3", "OPQ3,PQ3", "IVF2(Flat", "PCA4,Nonsense"})
    told_plainly(polar_index_create(description, kDim, POLAR_METRIC_INNER_PRODUCT, &none));
  const IndexHandle graph = make_index("NSG8,Flat", kDim, POLAR_METRIC_L2);
  int64_t removed = 0;
  const int64_t id = 0;
  told_plainly(polar_index_remove(graph.get(), 1, &id, &removed));
}

TEST_CASE("train is refused once the index holds rows", "[capi]") {
  for (const char* description : {"Polar2", "PCA8,Polar4", "IVF4,Flat", "Flat"}) {
    Fixture f(description);
    check_failed(polar_index_train(f.index.get(), kRows, f.x.data(), nullptr),
                 POLAR_ERROR_STATE_MISMATCH, {"index: holds 60 rows"});
    f.check_unchanged();
  }
}

TEST_CASE("a training that fails leaves the index as it was", "[capi]") {
  const std::vector<float> x = normal_rows(kRows, kDim, 1);
  // PCA learns from 3 rows; the 4 lists after it cannot.
  const IndexHandle index = make_index("PCA2,IVF4,Flat", kDim, POLAR_METRIC_L2);
  check_failed(polar_index_train(index.get(), 3, x.data(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"training"});
  CHECK(polar_index_is_trained(index.get()) == 0);
  const IndexHandle fresh = make_index("PCA2,IVF4,Flat", kDim, POLAR_METRIC_L2);
  for (const IndexHandle* trained : {&index, &fresh}) {
    require_ok(polar_index_train(trained->get(), kRows, x.data(), nullptr));
    require_ok(polar_index_add(trained->get(), kRows, x.data(), nullptr));
  }
  std::vector<float> scores(20), fresh_scores(20);
  std::vector<int64_t> ids(20), fresh_ids(20);
  require_ok(polar_index_search(index.get(), 1, x.data(), 20, nullptr, scores.data(), ids.data()));
  require_ok(polar_index_search(fresh.get(), 1, x.data(), 20, nullptr, fresh_scores.data(),
                                fresh_ids.data()));
  CHECK(scores == fresh_scores);
  CHECK(ids == fresh_ids);
}

TEST_CASE("ids must be new and not negative", "[capi]") {
  for (const char* description : {"Polar2", "IDMap2,Polar2", "IVF4,Flat", "Polar2,RFlat,IDMap2"}) {
    INFO(description);
    Fixture f(description, true);
    std::vector<int64_t> ids = {7, 8, 9};
    const auto refused = [&](const std::vector<std::string>& parts) {
      check_failed(polar_index_add_with_ids(f.index.get(), 3, f.x.data(), ids.data(), nullptr),
                   POLAR_ERROR_BAD_ARGUMENT, parts);
      f.check_unchanged();
    };
    ids[2] = -1;
    refused({"ids: -1 at 2 is not allowed; 0 or more"});
    ids[2] = 510;
    refused({"ids", "510", "2"});  // held
    ids[2] = 7;
    refused({"ids", "7", "2"});  // twice in one call
    ids[2] = 9;
    require_ok(polar_index_add_with_ids(f.index.get(), 3, f.x.data(), ids.data(), nullptr));
    CHECK(polar_index_ntotal(f.index.get()) == kRows + 3);
  }
}

TEST_CASE("an index takes rows with ids or without, not both", "[capi]") {
  const std::vector<int64_t> ids = {9000};
  for (const char* description : {"Polar2", "IDMap2,Polar2", "IVF4,Flat"}) {
    Fixture with(description, true);
    check_failed(polar_index_add(with.index.get(), 1, with.x.data(), nullptr),
                 POLAR_ERROR_BAD_ARGUMENT,
                 {"index: holds rows with ids", "polar_index_add_with_ids is allowed"});
    with.check_unchanged();
    Fixture without(description, false);
    check_failed(
        polar_index_add_with_ids(without.index.get(), 1, without.x.data(), ids.data(), nullptr),
        POLAR_ERROR_BAD_ARGUMENT, {"index: holds rows without ids", "polar_index_add is allowed"});
    without.check_unchanged();
  }
}

TEST_CASE("reconstruct refuses an id that is not there", "[capi]") {
  for (const char* description : {"Polar2", "PCA8,Polar4", "Polar2,RFlat", "Flat", "IVF4,Flat"}) {
    Fixture f(description);
    for (const int64_t id : {int64_t{-1}, kRows, INT64_MAX, INT64_MIN}) {
      check_failed(polar_index_reconstruct(f.index.get(), id, f.out.data()), POLAR_ERROR_NOT_FOUND,
                   {"id", std::to_string(id)});
    }
  }
}

TEST_CASE("a code shared by rows has no size of one row", "[capi]") {
  const IndexHandle index = make_index("PolarPair4x4g128", kDim, POLAR_METRIC_L2);
  size_t bytes = 0;
  check_failed(polar_index_code_size(index.get(), &bytes), POLAR_ERROR_UNSUPPORTED, {"128 rows"});
}
