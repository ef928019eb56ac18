// SPDX-License-Identifier: MIT
// A copy of a codec, for objects that outlive the caller's.
#pragma once

#include <memory>

#include "src/codec/codec.h"

namespace polarquant {

/// A codec of the same state, with this machine's kernels.
std::unique_ptr<Codec> copy_of(const Codec& codec);

}  // namespace polarquant
