// SPDX-License-Identifier: MIT
#include "src/simd/kernel_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/kernel_target.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

KernelCapabilities capabilities() {
  return {.avx2 = POLAR_SIMD_AVX2,
          .avx512 = POLAR_SIMD_AVX512,
          .vbmi = POLAR_SIMD_VBMI,
          .vnni = POLAR_SIMD_VNNI,
          .vpopcnt = POLAR_SIMD_VPOPCNT};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(target_name);
HWY_EXPORT(capabilities);

const char* kernel_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }
KernelCapabilities kernel_capabilities() { return HWY_DYNAMIC_DISPATCH(capabilities)(); }

}  // namespace polarquant
#endif
