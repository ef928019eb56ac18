// SPDX-License-Identifier: MIT
// Every target has the special forms of kernels that its processors can run. Of targets that are
// compiled and that this machine cannot run, the compiler is asked.
#include "src/simd/kernel_target.h"

#include "tests/scan/target_capabilities.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/scan/test_kernel_target.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant::test {
namespace HWY_NAMESPACE {

static_assert(is_known_target(HWY_TARGET), "a target that target_capabilities.h does not know");
static_assert(target_capabilities(HWY_TARGET) == KernelCapabilities{.avx2 = POLAR_SIMD_AVX2,
                                                                    .avx512 = POLAR_SIMD_AVX512,
                                                                    .vbmi = POLAR_SIMD_VBMI,
                                                                    .vnni = POLAR_SIMD_VNNI,
                                                                    .vpopcnt = POLAR_SIMD_VPOPCNT});

}  // namespace HWY_NAMESPACE
}  // namespace polarquant::test
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "tests/scan/every_target.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

TEST_CASE("each target takes the special kernels that it has", "[scan]") {
  on_every_target([] {
    const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    const int64_t best = targets & -targets;
    REQUIRE(is_known_target(best));
    CHECK(kernel_capabilities() == target_capabilities(best));
  });
}

#if HWY_ARCH_X86 && (defined(__GNUC__) || defined(__clang__))
TEST_CASE("what this processor has, the kernels take", "[scan]") {
  if (!__builtin_cpu_supports("sse2")) {
    WARN("the run-time library of this compiler, as zig's, finds nothing in any processor");
    return;
  }
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const bool has_vbmi =
      avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("vpclmulqdq");
  CAPTURE(kernel_target());
  CHECK(
      kernel_capabilities() ==
      KernelCapabilities{
          .avx2 = avx2, .avx512 = avx512, .vbmi = has_vbmi, .vnni = has_vbmi, .vpopcnt = has_vbmi});
}
#endif

}  // namespace
}  // namespace polarquant::test

#endif  // HWY_ONCE
