// SPDX-License-Identifier: MIT
// What recall counts: by ids, so that of two equal vectors only the one in the true list is right.
#pragma once

#include <cstdint>
#include <span>

namespace polarquant {

/// How many of the ids in `wanted`, which are all different, are among `got`. An id got twice
/// counts once.
int64_t neighbours_found(std::span<const int64_t> got, std::span<const int64_t> wanted);

}  // namespace polarquant
