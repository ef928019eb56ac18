// SPDX-License-Identifier: MIT
// Sequences of calls on two indexes of one kind: random ones, their text, and the shortest part of
// one that still fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace polarquant::test {

/// What a call does beside its name, its seed decides: so calls can be left out of a sequence, and
/// the others keep their meaning.
struct Call {
  size_t operation;
  uint64_t seed;
};

/// Whether the indexes are trained first, then calls.
struct CallSequence {
  bool trains_first = true;
  std::vector<Call> calls;
};

/// The names of operations, which Call::operation numbers.
const std::vector<std::string>& operation_names();

CallSequence random_sequence(uint64_t seed, size_t calls);

/// "trained add:17 merge:4 …" and back; throws std::invalid_argument.
std::string print_sequence(const CallSequence& sequence);
CallSequence parse_sequence(const std::string& text);

/// Leaves out calls as long as `fails` stays true.
CallSequence shrink(CallSequence sequence, const std::function<bool(const CallSequence&)>& fails);

}  // namespace polarquant::test
