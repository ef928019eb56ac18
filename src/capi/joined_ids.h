// SPDX-License-Identifier: MIT
// The ids of callers of several mapped files as one rising sequence, written as it is read: a few
// thousand ids of each file are in memory.
#pragma once

#include <vector>

#include "src/capi/caller_ids.h"
#include "src/io/byte_sink.h"

namespace polarquant::capi {

/// Throws bad_argument for an id that two of them have, corrupt_data for a damaged file.
void write_joined_ids(const std::vector<CallerIds>& files, ByteSink& sink);

}  // namespace polarquant::capi
