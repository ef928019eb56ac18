// SPDX-License-Identifier: MIT
#include "tests/faults/call_trial.h"

#include <limits>

namespace polarquant::test {
namespace {

constexpr int64_t kOtherRows = 70;  // enough for NSG

}  // namespace

std::optional<CallTrial::Prepared> CallTrial::prepare(const IndexKind& kind, IndexCall::On on) {
  const bool with_ids = on == IndexCall::On::rows_with_ids;
  if (with_ids && !kind.takes_ids) return std::nullopt;
  const IndexHandle index = make_index(kind.description, kFaultDim, POLAR_METRIC_L2);
  require_ok(polar_index_train(index.get(), kTrainingRows, fault_rows(0), nullptr));
  const IndexHandle other = index_of(bytes_of(index.get()));
  std::vector<int64_t> ids(kFaultRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = 2 * static_cast<int64_t>(i);
  if (with_ids) {
    require_ok(
        polar_index_add_with_ids(index.get(), kFaultRows, fault_rows(0), ids.data(), nullptr));
    for (int64_t& id : ids) ++id;
    require_ok(
        polar_index_add_with_ids(other.get(), kOtherRows, fault_rows(100), ids.data(), nullptr));
  } else {
    if (on == IndexCall::On::rows)
      require_ok(polar_index_add(index.get(), kFaultRows, fault_rows(0), nullptr));
    require_ok(polar_index_add(other.get(), kOtherRows, fault_rows(100), nullptr));
  }
  return Prepared{bytes_of(index.get()), bytes_of(other.get())};
}

CallPlace CallTrial::make_place() const {
  CallPlace place;
  place.index = index_of(prepared_->index);
  place.other = index_of(prepared_->other);
  place.folder = folder_.file("index");
  place.file = prepared_->index;
  place.scores.resize(2000);
  place.ids.resize(2000);
  place.rows.resize(kFaultDim);
  return place;
}

std::string CallTrial::state_of(const IndexHandle& index) const {
  // A file without rows tells whether its codec has ever encoded, for a failed call too.
  const bool is_empty = polar_index_ntotal(index.get()) == 0 && polar_index_nlist(index.get()) == 0;
  return kind_.answers_tell || is_empty ? answers_of(index.get()) : bytes_of(index.get());
}

CallTrial::Outcome CallTrial::outcome_of(const CallPlace& place) const {
  return {state_of(place.index), state_of(place.other), place.scores, place.ids, place.rows};
}

CallTrial::CallTrial(const IndexKind& kind, const IndexCall& call)
    : kind_(kind), call_(call), prepared_(prepare(kind, call.on)) {
  if (!prepared_) return;
  CallPlace place = make_place();
  require_ok(polar_index_save(place.index.get(), place.folder.c_str(), nullptr));
  FailingMemory memory(std::numeric_limits<int64_t>::max(), Failing::beyond);
  applies_ = call.make(place) == POLAR_OK;
  peak_ = memory.peak();
  if (!applies_) return;
  wanted_ = outcome_of(place);
  before_ = outcome_of(make_place());
}

CallTrial::Result CallTrial::run(int64_t first, Failing failing) {
  CallPlace place = make_place();
  FailingMemory memory(first, failing);
  const polar_status status = call_.make(place);
  memory.stop();
  return {memory.has_failed(), flaw_after(status, place)};
}

std::string CallTrial::flaw_after(polar_status status, CallPlace& place) const {
  // There may have been another way.
  if (status == POLAR_OK) return outcome_of(place) == wanted_ ? "" : "the outcome is another";
  if (status != POLAR_ERROR_OUT_OF_MEMORY)
    return polar_status_name(status) + std::string(": ") + last_error();
  if (state_of(place.index) != before_.index) return "the index is another";
  if (call_.changes && state_of(place.other) != before_.other) return "the other index is another";
  if (call_.make(place) != POLAR_OK) return "it is refused then: " + std::string(last_error());
  return outcome_of(place) == wanted_ ? "" : "it does something else then";
}

}  // namespace polarquant::test
