// SPDX-License-Identifier: MIT
// Every index call under limits of memory, from none up to what it takes at most: it says that
// memory ran out and changes nothing, or works. FAISS's loops over threads, in which a lack of
// memory ends the process, are not begun (src/faiss/foreign/memory_check.h).
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/call_trial.h"

namespace polarquant::test {
namespace {

/// Limits up to the peak: `even` of them, and finer ones near both ends.
std::set<int64_t> limits_up_to(int64_t peak, int64_t even) {
  std::set<int64_t> limits;
  for (int64_t i = 0; i < even; ++i) limits.insert(peak / even * i);
  for (int64_t bytes = 16; bytes < peak; bytes += bytes / 2) {
    limits.insert(bytes);
    limits.insert(peak - bytes);
  }
  return limits;
}

std::string flaw_of(const IndexKind& kind, const IndexCall& call, int64_t even) {
  CallTrial trial(kind, call);
  if (!trial.applies()) return "";
  for (const int64_t limit : limits_up_to(trial.peak(), even)) {
    const std::string flaw = trial.run(limit, Failing::beyond).flaw;
    if (!flaw.empty())
      return flaw + ", with " + std::to_string(limit) + " bytes of " + std::to_string(trial.peak());
  }
  return "";
}

void check_calls(const IndexKind& kind, int64_t even) {
  for (const IndexCall& call : index_calls()) {
    DYNAMIC_SECTION(kind.description << ": " << call.name) {
      const std::string flaw = flaw_of(kind, call, even);
      INFO(flaw);
      CHECK(flaw.empty());
    }
  }
}

const IndexKind kSome[] = {
    {"Flat"},
    {"IVF4,SQ8", true, {}, true},
    {"IVF4_HNSW4,Flat", true, {}, true},
    {"HNSW8,Flat"},
};

const IndexKind kAll[] = {
    {"Flat"},
    {"SQ8"},
    {"PQ4x4np"},
    {"PQ1x4np"},
    {"PQ4x4fs", false, {}, true},
    {"IVF4,Flat", true, {}, true},
    {"IVF4,SQ8", true, {}, true},
    {"IVF4,PQ4x4np", true, {}, true},
    {"IVF4,PQ1x4np", true, {}, true},
    {"IVF4,PQ4x4fs", true, {}, true},
    {"IVF4,PQ4x4np,RFlat", false, {}, true},
    {"IVF4_HNSW4,Flat", true, {}, true},
    {"IVF4_HNSW4,PQ4x4np", true, {}, true},
    {"IVF4(Polar8),SQ8", true, {}, true},
    {"IVF4_HNSW4,Polar4", true},
    {"IVF4,Polar4", true},
    {"IDMap2,Flat", true, {}, true},
    {"HNSW8,Flat"},
    {"HNSW8,SQ8"},
    {"NSG8,Flat"},
    {"HNSW8,Polar4"},
    {"HNSW8x,Polar4"},
    {"PCA8,Polar4", true},
    {"PCA8,IVF4,PQ4x4np", true, {}, true},
    {"OPQ4_8,IVF4,PQ4x4np", true, {}, true},
    {"OPQ4_8,PQ4x4np"},
    {"ITQ8,LSH"},
    {"L2norm,IDMap2,SQ8", true, {}, true},
    {"Polar2,RFlat"},
    {"SQ8,Refine(Polar8)"},
};

TEST_CASE("Calls under a limit of memory work or change nothing", "[faults]") {
  for (const IndexKind& kind : kSome) check_calls(kind, 6);
}

TEST_CASE("Calls of every kind under a limit of memory work or change nothing", "[faults][slow]") {
  for (const IndexKind& kind : kAll) check_calls(kind, 40);
}

TEST_CASE("Range searches in parts find the same", "[faults]") {
  constexpr int64_t kManyRows = 5000;
  constexpr int64_t kQueries = 50;
  const polar_metric metric = GENERATE(POLAR_METRIC_L2, POLAR_METRIC_INNER_PRODUCT);
  const IndexHandle index = make_index("Flat", kFaultDim, metric);
  const std::vector<float> rows = normal_rows(kManyRows, kFaultDim, 9, .3);
  require_ok(polar_index_add(index.get(), kManyRows, rows.data(), nullptr));
  struct Found {
    std::vector<int64_t> lims = std::vector<int64_t>(kQueries + 1);
    std::vector<float> scores = std::vector<float>(kQueries * kManyRows);
    std::vector<int64_t> ids = std::vector<int64_t>(kQueries * kManyRows);
    bool operator==(const Found&) const = default;
  };
  const float radius = metric == POLAR_METRIC_L2 ? 40.F : 3.F;
  const auto search = [&](Found& found) {
    return polar_index_range_search(index.get(), kQueries, rows.data(), radius, nullptr,
                                    kQueries * kManyRows, found.lims.data(), found.scores.data(),
                                    found.ids.data());
  };
  Found wanted;
  FailingMemory unlimited(std::numeric_limits<int64_t>::max(), Failing::beyond);
  require_ok(search(wanted));
  const int64_t peak = unlimited.peak();
  REQUIRE(wanted.lims.back() > 1000);
  int in_parts = 0;
  for (int64_t limit = peak; limit > 0; limit -= peak / 60) {
    Found found;
    FailingMemory memory(limit, Failing::beyond);
    const polar_status status = search(found);
    memory.stop();
    if (status != POLAR_ERROR_OUT_OF_MEMORY) CHECK(found == wanted);
    in_parts += status == POLAR_OK && memory.has_failed() ? 1 : 0;
  }
  CHECK(in_parts > 0);
}

}  // namespace
}  // namespace polarquant::test
