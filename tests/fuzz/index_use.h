// SPDX-License-Identifier: MIT
// Everything that a caller may do with an index of unknown origin.
#pragma once

#include <cstdint>

#include "polarquant/polarquant.h"

namespace polarquant::fuzz {

/// Searches by every option. Errors are fine; ids that no index can have are not.
void search_every_way(const polar_index* index, uint64_t choice);

/// Searches, changes, saves and copies it. `choice` decides which of the calls, and their order.
void use_index(polar_index* index, uint64_t choice);

}  // namespace polarquant::fuzz
