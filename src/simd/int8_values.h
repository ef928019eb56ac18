// SPDX-License-Identifier: MIT
// Bytes that kernels multiply: a segment of coordinates has kSegmentDims of them.
#pragma once

#include "src/codec/segment_plan.h"  // IWYU pragma: export

namespace polarquant {

/// Symmetric, so that a value can change its sign.
inline constexpr int kMaxInt8 = 127;

}  // namespace polarquant
