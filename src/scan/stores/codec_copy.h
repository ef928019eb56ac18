// SPDX-License-Identifier: MIT
// A codec of one's own, for what outlives the caller's.
#pragma once

#include <memory>

#include "src/codec/codec.h"

namespace polarquant {

/// Of the same state, with this machine's kernels.
std::unique_ptr<Codec> copy_of(const Codec& codec);

}  // namespace polarquant
