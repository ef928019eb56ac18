// SPDX-License-Identifier: MIT
// An index call made again and again while memory runs out in it: what must hold after each
// failure, and when the call is made once more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/failing_memory.h"
#include "tests/faults/index_calls.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {

class CallTrial {
 public:
  /// Makes the call with all the memory that it wants.
  CallTrial(const IndexKind& kind, const IndexCall& call);

  /// Whether indexes of the kind do that.
  bool applies() const { return applies_; }
  /// The most bytes that the call had out.
  int64_t peak() const { return peak_; }

  struct Result {
    bool has_failed;   // a request for memory
    std::string flaw;  // "": none
  };
  /// The arguments of FailingMemory.
  Result run(int64_t first, Failing failing);

 private:
  /// Indexes as calls find them, as files.
  struct Prepared {
    std::string index;
    std::string other;
  };
  /// All that a call may have changed or given.
  struct Outcome {
    std::string index;
    std::string other;
    std::vector<float> scores;
    std::vector<int64_t> ids;
    std::vector<float> rows;
    bool operator==(const Outcome&) const = default;
  };

  static std::optional<Prepared> prepare(const IndexKind& kind, IndexCall::On on);
  CallPlace make_place() const;
  std::string state_of(const IndexHandle& index) const;
  Outcome outcome_of(const CallPlace& place) const;
  std::string flaw_after(polar_status status, CallPlace& place) const;

  const IndexKind& kind_;
  const IndexCall& call_;
  TemporaryFolder folder_;
  std::optional<Prepared> prepared_;
  bool applies_ = false;
  int64_t peak_ = 0;
  Outcome before_;
  Outcome wanted_;
};

}  // namespace polarquant::test
