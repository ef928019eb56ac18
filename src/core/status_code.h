// SPDX-License-Identifier: MIT
// The status numbers alone, for code that cannot see the texts' formatting (cuda).
#pragma once

#include <cstdint>

namespace polarquant {

/// Part of the ABI (POLAR_* in polarquant.h), never changed; gaps are for more of each cause.
enum class StatusCode : int32_t {
  ok = 0,
  bad_argument = 10,
  unsupported = 20,
  not_trained = 30,
  not_found = 40,
  state_mismatch = 50,
  out_of_memory = 60,
  corrupt_data = 70,
  newer_format = 80,
  io = 90,
  cuda = 100,
  cancelled = 110,
  internal = 120,
};

}  // namespace polarquant
