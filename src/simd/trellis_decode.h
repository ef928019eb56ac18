// SPDX-License-Identifier: MIT
// Decoding of trellis planes to floats (codec/trellis.h) for the best target of this machine.
#pragma once

#include "src/codec/trellis.h"

namespace polarquant {

using DecodeSegments = int (*)(const CellBytes& cells, int step, const TrellisCode& code, float* u);
DecodeSegments simd_decode_segments();

}  // namespace polarquant
