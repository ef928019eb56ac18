// SPDX-License-Identifier: MIT
#include "tests/model/call_sequence.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "src/core/random.h"
#include "tests/model/call_player.h"

namespace polarquant::test {

const std::vector<std::string>& operation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const CallPlayer::Operation& operation : CallPlayer::operations()) {
      all.emplace_back(operation.name);
    }
    return all;
  }();
  return names;
}

CallSequence random_sequence(uint64_t seed, size_t calls) {
  Random random(seed);
  std::vector<size_t> weighted;
  for (size_t i = 0; i < CallPlayer::operations().size(); ++i) {
    weighted.insert(weighted.end(), CallPlayer::operations()[i].weight, i);
  }
  CallSequence sequence;
  sequence.trains_first = random.below(4) != 0;
  while (sequence.calls.size() < calls) {
    const uint64_t drawn = random.below(weighted.size());
    sequence.calls.push_back({weighted[drawn], random.below(1'000'000'000)});
  }
  return sequence;
}

std::string print_sequence(const CallSequence& sequence) {
  std::string text = sequence.trains_first ? "trained" : "new";
  for (const Call& call : sequence.calls) {
    text += ' ' + operation_names()[call.operation] + ':' + std::to_string(call.seed);
  }
  return text;
}

CallSequence parse_sequence(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  if (word != "trained" && word != "new") throw std::invalid_argument("sequence: " + word);
  CallSequence sequence;
  sequence.trains_first = word == "trained";
  while (words >> word) {
    const size_t colon = word.find(':');
    const auto& names = operation_names();
    const auto name = std::find(names.begin(), names.end(), word.substr(0, colon));
    if (colon == std::string::npos || name == names.end()) {
      throw std::invalid_argument("sequence: " + word);
    }
    sequence.calls.push_back(
        {static_cast<size_t>(name - names.begin()), std::stoull(word.substr(colon + 1))});
  }
  return sequence;
}

CallSequence shrink(CallSequence sequence, const std::function<bool(const CallSequence&)>& fails) {
  for (size_t part = std::max<size_t>(1, sequence.calls.size() / 2); part > 0; part /= 2) {
    for (size_t at = 0; at < sequence.calls.size();) {
      CallSequence shorter = sequence;
      const auto begin = shorter.calls.begin() + static_cast<ptrdiff_t>(at);
      const size_t count = std::min(part, shorter.calls.size() - at);
      shorter.calls.erase(begin, begin + static_cast<ptrdiff_t>(count));
      if (fails(shorter)) {
        sequence = std::move(shorter);
      } else {
        at += count;
      }
    }
  }
  return sequence;
}

}  // namespace polarquant::test
