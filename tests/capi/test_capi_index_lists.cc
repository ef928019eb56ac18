// SPDX-License-Identifier: MIT
// Inverted files: how many lists are searched, and lists that were made elsewhere.
#include <algorithm>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 400;
constexpr int64_t kLists = 4;

const std::vector<float>& rows() {
  static const std::vector<float> values = normal_rows(kRows, kDim, 1);
  return values;
}

/// (kLists, kDim): rows that are far from each other.
const std::vector<float>& centroids() {
  static const std::vector<float> values = [] {
    std::vector<float> made(kLists * kDim);
    for (int64_t list = 0; list < kLists; ++list)
      made[static_cast<size_t>(list * kDim + list)] = 10;
    return made;
  }();
  return values;
}

std::vector<int64_t> spread_lists() {
  std::vector<int64_t> lists(kRows);
  for (int64_t i = 0; i < kRows; ++i) lists[static_cast<size_t>(i)] = i % kLists;
  return lists;
}

std::vector<int64_t> ids_of_rows() {
  std::vector<int64_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) ids[static_cast<size_t>(i)] = 7 * i;
  return ids;
}

IndexHandle trained(const char* description, polar_metric metric) {
  IndexHandle index = make_index(description, kDim, metric);
  require_ok(polar_index_train_with_centroids(index.get(), kLists, centroids().data(), kRows,
                                              rows().data(), nullptr));
  return index;
}

std::vector<int64_t> search(const IndexHandle& index, int64_t nq, const float* queries, int64_t k,
                            int64_t nprobe) {
  polar_search_options options;
  polar_search_options_init(&options);
  options.nprobe = nprobe;
  options.exactness = kInfinity;
  std::vector<float> scores(static_cast<size_t>(nq * k));
  std::vector<int64_t> ids(scores.size());
  require_ok(polar_index_search(index.get(), nq, queries, k, &options, scores.data(), ids.data()));
  return ids;
}

}  // namespace

TEST_CASE("rows lie in the lists that were given", "[capi][lists]") {
  for (const char* description : {"IVF4,Polar8", "IVF4,Polar2", "IVF4_HNSW8,Polar4"}) {
    for (const polar_metric metric :
         {POLAR_METRIC_L2, POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_COSINE}) {
      INFO(description << " metric " << metric);
      const IndexHandle index = trained(description, metric);
      require_ok(polar_index_add_to_lists(index.get(), kRows, rows().data(), ids_of_rows().data(),
                                          spread_lists().data(), nullptr));
      CHECK(polar_index_ntotal(index.get()) == kRows);
      for (int64_t list = 0; list < kLists; ++list) {
        std::vector<int64_t> expected;
        for (int64_t i = list; i < kRows; i += kLists) expected.push_back(7 * i);
        std::vector<int64_t> found =
            search(index, 1, centroids().data() + list * kDim, kRows / kLists, 1);
        std::sort(found.begin(), found.end());
        CHECK(found == expected);
      }
    }
  }
}

TEST_CASE("rows in the lists of the nearest centroids are those of add_with_ids", "[capi][lists]") {
  const IndexHandle index = trained("IVF4,Polar4", POLAR_METRIC_L2);
  const IndexHandle expected = trained("IVF4,Polar4", POLAR_METRIC_L2);
  std::vector<int64_t> nearest(kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    const auto to_list = [&](int64_t list) {
      return distance(rows().data() + i * kDim, centroids().data() + list * kDim, kDim);
    };
    for (int64_t list = 1; list < kLists; ++list) {
      int64_t& best = nearest[static_cast<size_t>(i)];
      if (to_list(list) < to_list(best)) best = list;
    }
  }
  const std::vector<int64_t> ids = ids_of_rows();
  require_ok(polar_index_add_to_lists(index.get(), 150, rows().data(), ids.data(), nearest.data(),
                                      nullptr));
  require_ok(polar_index_add_to_lists(index.get(), kRows - 150, rows().data() + 150 * kDim,
                                      ids.data() + 150, nearest.data() + 150, nullptr));
  require_ok(polar_index_add_with_ids(expected.get(), kRows, rows().data(), ids.data(), nullptr));
  CHECK(search(index, 50, rows().data(), 10, 2) == search(expected, 50, rows().data(), 10, 2));
  std::vector<float> x(kDim);
  std::vector<float> y(kDim);
  require_ok(polar_index_reconstruct(index.get(), 7 * 33, x.data()));
  require_ok(polar_index_reconstruct(expected.get(), 7 * 33, y.data()));
  CHECK(x == y);
}

TEST_CASE("how many lists are searched is kept", "[capi][lists]") {
  for (const char* description :
       {"IVF4,Polar4", "IVF4,Flat", "IDMap,IVF4,Polar4", "PCA8,IVF4,Polar2"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    CHECK(polar_index_nlist(index.get()) == 4);
    CHECK(polar_index_nprobe(index.get()) == 1);
    require_ok(polar_index_set_nprobe(index.get(), 3));
    require_ok(polar_index_train(index.get(), kRows, rows().data(), nullptr));
    CHECK(polar_index_nprobe(index.get()) == 3);
    require_ok(polar_index_add(index.get(), kRows, rows().data(), nullptr));
    CHECK(search(index, 30, rows().data(), 10, 0) == search(index, 30, rows().data(), 10, 3));
    CHECK(search(index, 30, rows().data(), 10, 0) != search(index, 30, rows().data(), 10, 1));
    polar_index* copy = nullptr;
    require_ok(polar_index_clone(index.get(), &copy));
    const IndexHandle cloned(copy);
    CHECK(polar_index_nprobe(cloned.get()) == 3);
    check_failed(polar_index_set_nprobe(index.get(), 0), POLAR_ERROR_BAD_ARGUMENT, {"nprobe: 0"});
    CHECK(polar_index_nprobe(index.get()) == 3);
  }
  const IndexHandle flat = make_index("Polar4", kDim, POLAR_METRIC_L2);
  CHECK(polar_index_nlist(flat.get()) == 0);
  CHECK(polar_index_nprobe(flat.get()) == 0);
  check_failed(polar_index_set_nprobe(flat.get(), 3), POLAR_ERROR_UNSUPPORTED, {"nprobe: 3"});
  check_failed(polar_index_set_nprobe(nullptr, 3), POLAR_ERROR_BAD_ARGUMENT, {"index: NULL"});
  CHECK(polar_index_nlist(nullptr) == 0);
  CHECK(polar_index_nprobe(nullptr) == 0);
}

TEST_CASE("training with centroids tells what is wrong", "[capi][lists]") {
  const auto train = [](const IndexHandle& index, int64_t nlist, const float* c, int64_t n,
                        const float* x) {
    return polar_index_train_with_centroids(index.get(), nlist, c, n, x, nullptr);
  };
  const IndexHandle index = make_index("IVF4,Polar4", kDim, POLAR_METRIC_L2);
  const float* c = centroids().data();
  const float* x = rows().data();
  check_failed(train(index, 5, c, kRows, x), POLAR_ERROR_BAD_ARGUMENT, {"nlist: 5", "4 lists"});
  check_failed(train(index, 4, nullptr, kRows, x), POLAR_ERROR_BAD_ARGUMENT, {"centroids: NULL"});
  check_failed(train(index, 4, c, 0, x), POLAR_ERROR_BAD_ARGUMENT, {"n: 0"});
  std::vector<float> bad = centroids();
  bad[20] = kNan;
  check_failed(train(index, 4, bad.data(), kRows, x), POLAR_ERROR_BAD_ARGUMENT, {"centroids"});
  CHECK(polar_index_is_trained(index.get()) == 0);
  for (const char* description : {"Polar4", "IVF4,Flat", "PCA8,IVF4,Polar4", "IMI2x1,Polar4"}) {
    INFO(description);
    const IndexHandle other = make_index(description, kDim, POLAR_METRIC_L2);
    check_failed(train(other, 4, c, kRows, x), POLAR_ERROR_UNSUPPORTED, {description});
  }
  require_ok(train(index, 4, c, kRows, x));
  require_ok(train(index, 4, c, kRows, x));  // forgets what it learned before
  require_ok(polar_index_add(index.get(), 1, x, nullptr));
  check_failed(train(index, 4, c, kRows, x), POLAR_ERROR_STATE_MISMATCH, {"holds 1 rows"});
}

TEST_CASE("adding to lists tells what is wrong and changes nothing", "[capi][lists]") {
  const std::vector<int64_t> ids = ids_of_rows();
  const std::vector<int64_t> lists = spread_lists();
  const auto add = [&](const IndexHandle& index, int64_t n, const float* x, const int64_t* row_ids,
                       const int64_t* to) {
    return polar_index_add_to_lists(index.get(), n, x, row_ids, to, nullptr);
  };
  const float* x = rows().data();
  const IndexHandle untrained = make_index("IVF4,Polar4", kDim, POLAR_METRIC_L2);
  check_failed(add(untrained, 5, x, ids.data(), lists.data()), POLAR_ERROR_NOT_TRAINED, {"train"});
  const IndexHandle index = trained("IVF4,Polar4", POLAR_METRIC_L2);
  require_ok(add(index, 0, nullptr, nullptr, nullptr));
  require_ok(add(index, 5, x, ids.data(), lists.data()));
  std::vector<int64_t> wrong = lists;
  wrong[3] = 4;
  check_failed(add(index, 5, x, ids.data() + 5, wrong.data()), POLAR_ERROR_BAD_ARGUMENT,
               {"lists: 4 at 3", "0 to 3"});
  wrong[3] = -1;
  check_failed(add(index, 5, x, ids.data() + 5, wrong.data()), POLAR_ERROR_BAD_ARGUMENT,
               {"lists: -1 at 3"});
  check_failed(add(index, 5, x, ids.data() + 3, lists.data()), POLAR_ERROR_BAD_ARGUMENT,
               {"ids: 21 at 0"});
  check_failed(add(index, 5, x, ids.data() + 5, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"lists: NULL"});
  std::vector<float> infinite = rows();
  infinite[2 * kDim] = kInfinity;
  check_failed(add(index, 5, infinite.data(), ids.data() + 5, lists.data()),
               POLAR_ERROR_BAD_ARGUMENT, {"x"});
  check_failed(polar_index_add(index.get(), 1, x, nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"ids of the caller's"});
  CHECK(polar_index_ntotal(index.get()) == 5);
  require_ok(add(index, 5, x, ids.data() + 5, lists.data()));
  const IndexHandle flat = make_index("Polar4", kDim, POLAR_METRIC_L2);
  check_failed(add(flat, 5, x, ids.data(), lists.data()), POLAR_ERROR_UNSUPPORTED, {"\"Polar4\""});
}
