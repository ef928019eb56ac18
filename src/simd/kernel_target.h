// SPDX-License-Identifier: MIT
#pragma once

namespace polarquant {

/// The instruction set that kernels run on, by Highway's name: "AVX3_DL", "NEON", …
const char* kernel_target();

/// What special forms of kernels need of an instruction set (capabilities.h).
struct KernelCapabilities {
  bool avx2 = false;
  bool avx512 = false;
  bool vbmi = false;
  bool vnni = false;
  bool vpopcnt = false;

  friend bool operator==(const KernelCapabilities&, const KernelCapabilities&) = default;
};

/// Those of the instruction set that kernels run on, which decide the forms that are taken.
KernelCapabilities kernel_capabilities();

}  // namespace polarquant
