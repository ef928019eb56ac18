// SPDX-License-Identifier: MIT
// Plays calls on two indexes of one kind and on their models, and compares them after each. What a
// call must do, the model says; a call that is refused must leave index and file as they were.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/core/random.h"
#include "tests/capi/capi_support.h"
#include "tests/model/call_sequence.h"
#include "tests/model/index_kinds.h"
#include "tests/model/plain_rows.h"
#include "tests/model/random_filter.h"

namespace polarquant::test {

/// An index that is not what its model says.
class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An index beside what it must hold.
struct ModelledIndex {
  IndexHandle index;
  PlainRows rows;
  bool is_mapped = false;
};

class CallPlayer {
 public:
  struct Operation {
    const char* name;
    size_t weight;  // how often it is drawn
    void (CallPlayer::*play)(Random&);
  };
  static std::span<const Operation> operations();

  CallPlayer(const IndexKind& kind, polar_metric metric, std::string folder);

  /// Throws ModelFailure with a log of the calls made.
  void play(const CallSequence& sequence);

 private:
  void begin(bool trains_first);
  void train(Random& random);
  void add(Random& random);
  void add_with_ids(Random& random);
  void remove(Random& random);
  void remove_filtered(Random& random);
  void update(Random& random);
  void upsert(Random& random);
  void merge(Random& random);
  void compact(Random& random);
  void reset(Random& random);
  void clone(Random& random);
  void save_and_load(Random& random);
  void write_and_read(Random& random);
  void set_nprobe(Random& random);
  void search(Random& random);
  void search_filtered(Random& random);
  void search_range(Random& random);
  void reconstruct_none(Random& random);
  void rebuild(Random& random);

  void add_rows(Random& random, bool with_ids);
  void make_strange(Random& random, float* row) const;
  void compare_removal(polar_status status, int64_t removed,
                       const std::function<bool(int64_t)>& goes);
  /// What the index answers is what `before` answered.
  void require_same_answers(const polar_index* before, Random& random);
  polar_load_options load_options() const;

  /// From 0 on, below the bound.
  static int64_t any_of(Random& random, int64_t bound) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
  }
  std::vector<float> random_rows(Random& random, int64_t n) const;
  /// A new one, or one of those prepared before, for whatever rows there were.
  const RandomFilter& random_filter(Random& random);
  void log(const std::string& line);
  void require_that(bool holds, const std::string& what) const;
  /// The call must have worked.
  void require_worked(polar_status status, const std::string& what) const;

  IndexKind kind_;
  polar_metric metric_;
  std::string folder_;
  int64_t saves_ = 0;
  std::array<ModelledIndex, 2> both_;
  IndexHandle empty_;  // of the state that both have
  bool same_state_ = true;
  std::array<std::unique_ptr<RandomFilter>, 4> filters_;
  ModelledIndex* now_ = nullptr;  // what the call is made on
  ModelledIndex* other_ = nullptr;
  std::string log_;
};

}  // namespace polarquant::test
