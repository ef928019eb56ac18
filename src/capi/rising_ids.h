// SPDX-License-Identifier: MIT
// The ids of callers in mapped files, which rise in each, as one rising sequence: written as it is
// read, with a few thousand ids of each file in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "src/io/mapped_section.h"

namespace polarquant::capi {

/// Told the next ids.
using TakeIds = std::function<void(std::span<const int64_t>)>;

/// Sections of whole int64 numbers. Throws bad_argument for an id that two of them have,
/// corrupt_data unless they are what was written, and rise.
void read_rising(std::span<const std::shared_ptr<const MappedSection>> files, const TakeIds& take);

/// The ids of a section, not verified yet.
std::span<const int64_t> ids_in(const MappedSection& file);

/// Throws corrupt_data unless ids of a file rise from 0 or more.
void require_rising(std::span<const int64_t> ids);

}  // namespace polarquant::capi
