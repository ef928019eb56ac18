// SPDX-License-Identifier: MIT
// Sums that the compiler must make in the order in which they are written.
#if defined(POLARQUANT_KEEP_ORDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_KEEP_ORDER_INL_H_
#undef POLARQUANT_KEEP_ORDER_INL_H_
#else
#define POLARQUANT_KEEP_ORDER_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// GCC makes trees of long sums, and loads all that is looked up for them first, where registers
/// are too few for either. With this it finishes the sum so far, which is returned.
template <class Raw>
HWY_INLINE Raw keep_order(Raw sum) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm volatile("" : "+x"(sum) : : "memory");
#endif
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
