// SPDX-License-Identifier: MIT
// Searches leave working memory to later ones. One that ran out of memory may leave it half used.
#include <cstdint>
#include <vector>

#include "polarquant/polarquant.h"
#include "tests/capi/capi_support.h"
#include "tests/faults/failing_memory.h"

namespace polarquant::test {
namespace {

struct Found {
  std::vector<float> scores;
  std::vector<int64_t> ids;

  explicit Found(int64_t count)
      : scores(static_cast<size_t>(count)), ids(static_cast<size_t>(count)) {}
  bool operator==(const Found&) const = default;
};

struct Searches {
  const char* description;
  int dim;  // large ones are searched by bounds where there are products of matrices, too
  int64_t nq;
};

// k is more than lists of results begin with, so that memory is asked for in the middle.
TEST_CASE("A search after one that ran out of memory finds what it should", "[faults]") {
  constexpr int64_t kRows = 700;
  constexpr int64_t k = 150;
  const auto [description, dim, nq] =
      GENERATE(Searches{"Polar4", 600, 80}, Searches{"Polar2", 64, 2}, Searches{"Polar1", 64, 2},
               Searches{"Polar2", 64, 40}, Searches{"IVF8,Polar4", 64, 2});
  const std::vector<float> x = normal_rows(kRows, dim, 1);
  const std::vector<float> queries = normal_rows(nq, dim, 2);
  const IndexHandle index = make_index(description, dim, POLAR_METRIC_INNER_PRODUCT);
  require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
  require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
  const polar_search_options options = searching_on(1);
  const auto search = [&, nq = nq](Found* found) {
    return polar_index_search(index.get(), nq, queries.data(), k, &options, found->scores.data(),
                              found->ids.data());
  };
  Found wanted(nq * k);
  require_ok(search(&wanted));
  CAPTURE(description, nq);
  int64_t failed = 0;
  for (int64_t first = 0;; ++first) {
    Found found(nq * k);
    FailingMemory memory(first, Failing::onward);
    const polar_status status = search(&found);
    memory.stop();
    if (!memory.has_failed()) break;
    failed += status == POLAR_OK ? 0 : 1;
    require_ok(search(&found));
    INFO("request " << first);
    REQUIRE(found == wanted);
  }
  CHECK(failed > 0);
}

}  // namespace
}  // namespace polarquant::test
