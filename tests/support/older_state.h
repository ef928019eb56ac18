// SPDX-License-Identifier: MIT
// A codec's state as libraries before format 4 wrote it, whose 16-bit floats are binary16.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/checksum.h"

namespace polarquant::test {

/// Replaces the checksum at the end of a state that was changed.
inline void sign_again(std::vector<uint8_t>& state) {
  const uint64_t sum = checksum64(state.data(), state.size() - sizeof(uint64_t));
  std::memcpy(&state[state.size() - sizeof sum], &sum, sizeof sum);
}

/// The state in format 1, 2 or 3 of a codec whose state is of format 4.
inline std::vector<uint8_t> older_state(const Codec& codec) {
  constexpr size_t kVersionAt = 8;
  constexpr size_t kFlagsAt = 16;
  std::vector<uint8_t> state = codec.save_state();
  if (state[kVersionAt] < 4) return state;
  const bool margins = (state[kFlagsAt] & 2) != 0;
  state.erase(state.begin() + kFlagsAt, state.begin() + kFlagsAt + sizeof(uint32_t));
  state[kVersionAt] = margins ? 3 : codec.has_basis() ? 2 : 1;
  sign_again(state);
  return state;
}

/// The codec as it was loaded from such a state.
inline std::unique_ptr<Codec> older_codec(const Codec& codec) {
  const std::vector<uint8_t> state = older_state(codec);
  return Codec::load_state(state.data(), state.size());
}

}  // namespace polarquant::test
