// SPDX-License-Identifier: MIT
// Decoding of trellis planes to floats (codec/trellis.h) for the best target of this machine.
#pragma once

#include "src/codec/trellis.h"

namespace polarquant {

using DecodeFront = int (*)(const CellBytes& cells, int step, const TrellisCode& code, float* u);
DecodeFront simd_decode_front();

}  // namespace polarquant
