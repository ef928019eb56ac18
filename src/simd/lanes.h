// SPDX-License-Identifier: MIT
// The form of vectors of bytes that kernels multiply: how many lanes a segment of coordinates has,
// and how large a byte may be.
#pragma once

namespace polarquant {

inline constexpr int kSegmentLanes = 64;
/// Symmetric, so that a value can change its sign.
inline constexpr int kMaxInt8 = 127;

}  // namespace polarquant
