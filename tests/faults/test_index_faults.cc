// SPDX-License-Identifier: MIT
// Every request for memory of every call of every kind of index fails once, and from there on: the
// call says so and changes nothing, and the index works as before.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/failing_memory.h"
#include "tests/faults/index_calls.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

/// Indexes as calls find them, as files.
struct Prepared {
  std::string index;
  std::string other;
};

std::optional<Prepared> prepare(const IndexKind& kind, IndexCall::On on) {
  const bool with_ids = on == IndexCall::On::rows_with_ids;
  if (with_ids && !kind.takes_ids) return std::nullopt;
  const IndexHandle index = make_index(kind.description, kFaultDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(index.get(), kTrainingRows, fault_rows(0)));
  const IndexHandle other = index_of(bytes_of(index.get()));
  std::vector<int64_t> ids(kFaultRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = 2 * static_cast<int64_t>(i);
  if (with_ids) {
    require_ok(polar_index_add_with_ids(index.get(), kFaultRows, fault_rows(0), ids.data()));
    for (int64_t& id : ids) ++id;
    require_ok(polar_index_add_with_ids(other.get(), 20, fault_rows(100), ids.data()));
  } else {
    if (on == IndexCall::On::rows)
      require_ok(polar_index_add(index.get(), kFaultRows, fault_rows(0)));
    require_ok(polar_index_add(other.get(), 20, fault_rows(100)));
  }
  return Prepared{bytes_of(index.get()), bytes_of(other.get())};
}

CallPlace place_of(const Prepared& prepared, const TemporaryFolder& folder) {
  CallPlace place;
  place.index = index_of(prepared.index);
  place.other = index_of(prepared.other);
  place.folder = folder.file("index");
  place.file = prepared.index;
  place.scores.resize(2000);
  place.ids.resize(2000);
  place.rows.resize(kFaultDim);
  return place;
}

/// All that a call may have changed or given.
struct Outcome {
  std::string index;
  std::string other;
  std::vector<float> scores;
  std::vector<int64_t> ids;
  std::vector<float> rows;
  bool operator==(const Outcome&) const = default;
};

std::string state_of(const IndexKind& kind, const IndexHandle& index) {
  // A file without rows tells whether its codec has ever encoded, for a failed call too.
  const bool is_empty = polar_index_ntotal(index.get()) == 0 && polar_index_nlist(index.get()) == 0;
  return kind.has_map_of_ids || is_empty ? answers_of(index.get()) : bytes_of(index.get());
}

Outcome outcome_of(const IndexKind& kind, const CallPlace& place) {
  return {state_of(kind, place.index), state_of(kind, place.other), place.scores, place.ids,
          place.rows};
}

std::string text_of(const char* flaw, int64_t request) {
  return std::string(flaw) + " when request " + std::to_string(request) + " fails";
}

/// Behind the first of them not every request of a call fails: a factory's are thousands alike.
int64_t next_request(int64_t request) { return request + 1 + request / 200; }

/// What is wrong after a failure, "" for nothing; one request of the call fails in each run.
std::string flaw_of(const IndexKind& kind, const IndexCall& call, Failing failing) {
  const std::optional<Prepared> prepared = prepare(kind, call.on);
  if (!prepared) return "";
  const TemporaryFolder folder;
  CallPlace made = place_of(*prepared, folder);
  require_ok(polar_index_save(made.index.get(), made.folder.c_str()));
  if (call.make(made) != POLAR_OK) return "";  // not of this kind
  const std::string before = state_of(kind, index_of(prepared->index));
  const std::string other_before = state_of(kind, index_of(prepared->other));
  const Outcome wanted = outcome_of(kind, made);
  for (int64_t request = 0;; request = next_request(request)) {
    CallPlace place = place_of(*prepared, folder);
    FailingMemory memory(request, failing);
    const polar_status status = call.make(place);
    memory.stop();
    if (status == POLAR_OK) {
      // There may have been another way.
      if (outcome_of(kind, place) != wanted) return text_of("the outcome is another", request);
      if (!memory.has_failed()) return "";
      continue;
    }
    if (status != POLAR_ERROR_OUT_OF_MEMORY)
      return text_of(polar_status_name(status), request) + ": " + last_error();
    if (state_of(kind, place.index) != before) return text_of("the index is another", request);
    if (call.changes && state_of(kind, place.other) != other_before)
      return text_of("the other index is another", request);
    if (call.make(place) != POLAR_OK) return text_of("it is refused then", request) + last_error();
    if (outcome_of(kind, place) != wanted) return text_of("it does something else then", request);
  }
}

void check_calls(const IndexKind& kind, const std::vector<Failing>& ways) {
  const auto& left = kind.left_to_faiss;
  for (const IndexCall& call : index_calls()) {
    if (std::find(left.begin(), left.end(), call.name) != left.end()) continue;
    DYNAMIC_SECTION(kind.description << ": " << call.name) {
      for (const Failing failing : ways) CHECK(flaw_of(kind, call, failing) == "");
    }
  }
}

// FAISS's part in calls of kinds of its own.
const std::vector<std::string> kTraining = {"train"};
const std::vector<std::string> kSearches = {"search", "search one", "search some", "range search"};
const std::vector<std::string> kTrainingAndSearches = {"train", "search", "search one",
                                                       "search some", "range search"};

const IndexKind kOurs[] = {
    {"Polar4", true},
    {"IVF4,Polar4", true, {"train", "save", "save and verify"}},
    {"HNSW8,Polar4", false, kTraining},
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
    {"HNSW8,Polar4"},
    {"IDMap2,HNSW8,Polar4", true},
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
};

TEST_CASE("Calls that run out of memory change nothing", "[faults]") {
  for (const IndexKind& kind : kOurs) check_calls(kind, {Failing::once});
}

TEST_CASE("Calls of every kind that run out of memory change nothing", "[faults][slow]") {
  for (const IndexKind& kind : kAll) check_calls(kind, {Failing::once, Failing::onward});
}

}  // namespace
}  // namespace polarquant::test
