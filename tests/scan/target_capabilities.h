// SPDX-License-Identifier: MIT
// Which special forms of kernels each target of Highway has, told target by target: what the
// conditions of src/simd/capabilities.h must come to.
#pragma once

#include "src/simd/targets.h"  // before highway
//
#include <hwy/targets.h>

#include <cstdint>

#include "src/simd/kernel_target.h"

namespace polarquant::test {

struct TargetCapabilities {
  int64_t target;
  KernelCapabilities capabilities;
};

inline constexpr KernelCapabilities kGeneral = {};
inline constexpr KernelCapabilities kAvx2 = {.avx2 = true};
inline constexpr KernelCapabilities kAvx512 = {.avx2 = true, .avx512 = true};
/// Ice Lake, Sapphire Rapids, Zen 4 and what came after them.
inline constexpr KernelCapabilities kAll = {
    .avx2 = true, .avx512 = true, .vbmi = true, .vnni = true, .vpopcnt = true};

/// Highway's targets, of versions before and after this one's too.
inline constexpr TargetCapabilities kTargetCapabilities[] = {
#ifdef HWY_AVX10_2
    {HWY_AVX10_2, kAll},
#endif
#ifdef HWY_AVX10_2_512
    {HWY_AVX10_2_512, kAll},
#endif
#ifdef HWY_AVX3_SPR
    {HWY_AVX3_SPR, kAll},
#endif
#ifdef HWY_AVX3_ZEN4
    {HWY_AVX3_ZEN4, kAll},
#endif
    {HWY_AVX3_DL, kAll},
    {HWY_AVX3, kAvx512},
    {HWY_AVX2, kAvx2},
    {HWY_SSE4, kGeneral},
    {HWY_SSSE3, kGeneral},
#ifdef HWY_SSE2
    {HWY_SSE2, kGeneral},
#endif
#ifdef HWY_NEON_BF16
    {HWY_NEON_BF16, kGeneral},
#endif
    {HWY_NEON, kGeneral},
#ifdef HWY_NEON_WITHOUT_AES
    {HWY_NEON_WITHOUT_AES, kGeneral},
#endif
    {HWY_EMU128, kGeneral},
    {HWY_SCALAR, kGeneral},
};

constexpr bool is_known_target(int64_t target) {
  for (const TargetCapabilities& row : kTargetCapabilities)
    if (row.target == target) return true;
  return false;
}

/// Those of a known target.
constexpr KernelCapabilities target_capabilities(int64_t target) {
  for (const TargetCapabilities& row : kTargetCapabilities)
    if (row.target == target) return row.capabilities;
  return kGeneral;
}

}  // namespace polarquant::test
