// SPDX-License-Identifier: MIT
// Graphs whose rows can all be reached, however many threads link them, of few links too.
#include <faiss/IndexHNSW.h>

#include <memory>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "tests/faiss/checked_graph.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test::graphs {
namespace {

TEST_CASE("Every row can be reached in graphs linked by one thread or several", "[faiss][graph]") {
  const int threads = GENERATE(1, 4);
  const CallThreads call_threads(threads);
  const std::string description =
      GENERATE("HNSW4,Polar4", "HNSW8,Polar2", "HNSW16,Polar2", "HNSW32,Polar2");
  CAPTURE(threads, description);
  for (const int seed : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(seed);
    const std::vector<float> x = clustered_rows(4 * kRows, kDim, seed);
    const auto index = index_factory(kDim, description, ::faiss::METRIC_L2);
    // The second half changes links of the first.
    for (const int64_t first : {int64_t{0}, 2 * kRows})
      index->add(2 * kRows, x.data() + first * kDim);
    CHECK(count_unreachable(dynamic_cast<const ::faiss::IndexHNSW&>(*index).hnsw) == 0);
  }
}

}  // namespace
}  // namespace polarquant::test::graphs
