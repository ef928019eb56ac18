// SPDX-License-Identifier: MIT
// Every request for memory of every call of every kind of index fails once, and from there on: the
// call says so and changes nothing, and the index works as before.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/faults/call_trial.h"

namespace polarquant::test {
namespace {

/// After the first of them not every request of a call fails: a factory's are thousands alike.
int64_t next_request(int64_t request) { return request + 1 + request / 200; }

/// What is wrong after a failure, "" for nothing; one request of the call fails in each run.
std::string flaw_of(const IndexKind& kind, const IndexCall& call, Failing failing) {
  CallTrial trial(kind, call);
  if (!trial.applies()) return "";
  for (int64_t request = 0;; request = next_request(request)) {
    const CallTrial::Result result = trial.run(request, failing);
    if (!result.flaw.empty())
      return result.flaw + ", when request " + std::to_string(request) + " fails";
    if (!result.has_failed) return "";
  }
}

void check_calls(const IndexKind& kind, const std::vector<Failing>& ways) {
  const auto& left = kind.left_to_faiss;
  for (const IndexCall& call : index_calls()) {
    if (std::find(left.begin(), left.end(), call.name) != left.end()) continue;
    DYNAMIC_SECTION(kind.description << ": " << call.name) {
      for (const Failing failing : ways) {
        const std::string flaw = flaw_of(kind, call, failing);
        INFO(flaw);
        CHECK(flaw.empty());
      }
    }
  }
}

// FAISS's part in calls of kinds of its own.
const std::vector<std::string> kTraining = {"train"};
const std::vector<std::string> kSearches = {"search",       "search plainly",   "search one",
                                            "search some",  "search many",      "search deep",
                                            "range search", "range search many"};
const std::vector<std::string> kTrainingAndSearches = {
    "train",       "search",      "search plainly", "search one",       "search some",
    "search many", "search deep", "range search",   "range search many"};

const IndexKind kOurs[] = {
    {"Polar4", true},
    {"IVF4,Polar4", true, {"train", "save", "save and verify"}},
    {"HNSW8,Polar4", false, kTraining},
    {"IDMap2,IVF4,Polar2,Refine(Polar8)", true, kTraining, true},
    {"IDMap2,NSG8,Polar4", true, kTraining},
    {"IDMap2,Flat", true, kSearches},
};

const IndexKind kAll[] = {
    {"Polar4", true},
    {"Polar2+2", true},
    {"Polar2-pca", true},
    {"PolarTree4.2.2.2", true},
    {"PolarPair4x4g128", true},
    {"PCA8,Polar4", true, kTraining},
    {"L2norm,IDMap2,Polar4", true},
    {"IDMap,Polar4", true},
    {"IDMap2,Polar4", true},
    {"IDMap2,IVF4,Polar4", true, kTraining},
    {"IVF4,Polar4", true, kTraining},
    {"IVF4,PolarTree4.2.2.2", true, kTraining},
    {"PCA8,IVF4,Polar4", true, kTraining},
    {"IVF4(Polar8),SQ8", true, kTrainingAndSearches, true},
    {"IVF4,Polar4,RFlat", false, kTraining},
    {"Polar2,RFlat"},
    {"Polar2,Refine(Polar8)"},
    {"IDMap2,Polar2,RFlat", true},
    {"IDMap2,IVF4,Polar4,RFlat", true, kTraining},
    {"IDMap2,IVF4,Polar2,Refine(Polar8)", true, kTraining, true},
    {"IDMap2,HNSW8,Polar2,Refine(SQ8)", true, kTraining},
    {"HNSW8,Polar4"},
    {"IDMap2,HNSW8,Polar4", true},
    {"NSG8,Polar4"},
    {"IDMap2,NSG8,Polar4", true},
    {"IDMap2,NSG8,Polar2,RFlat", true, kTraining},
    {"Flat", false, kSearches},
    {"IDMap2,Flat", true, kSearches},
    {"SQ8", false, kTrainingAndSearches},
    {"IVF4,Flat", true, kTrainingAndSearches, true},
    {"IVF4,SQ8", true, kTrainingAndSearches, true},
    {"IVF4,PQ4x4np", true, kTrainingAndSearches, true},
    {"IDMap2,IVF4,Flat", true, kTrainingAndSearches},
    {"HNSW8,Flat", false, kSearches},
    {"IDMap2,HNSW8,Flat", true, kSearches},
    {"PQ4x4np", false, kTrainingAndSearches},
    {"PQ1x4np", false, kTrainingAndSearches},
    {"IVF4,PQ1x4np", true, kTrainingAndSearches, true},
};

TEST_CASE("Calls that run out of memory change nothing", "[faults]") {
  for (const IndexKind& kind : kOurs) check_calls(kind, {Failing::once});
}

TEST_CASE("Calls of every kind that run out of memory change nothing", "[faults][slow]") {
  for (const IndexKind& kind : kAll) check_calls(kind, {Failing::once, Failing::onward});
}

}  // namespace
}  // namespace polarquant::test
