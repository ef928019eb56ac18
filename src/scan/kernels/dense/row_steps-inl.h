// SPDX-License-Identifier: MIT
// What kernels of query tiles read of a row at a time.
#if defined(POLARQUANT_ROW_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROW_STEPS_INL_H_
#undef POLARQUANT_ROW_STEPS_INL_H_
#else
#define POLARQUANT_ROW_STEPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "src/scan/kernels/dense/query_tile_dots.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Positions 4·step … 4·step+3 of a row.
HWY_ATTR inline int32_t step_of_row(const int8_t* row, int step) {
  int32_t bits;
  std::memcpy(&bits, row + static_cast<size_t>(step) * kDimsPerStep, sizeof bits);
  return bits;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
