// SPDX-License-Identifier: MIT
// Which instruction sets kernels are compiled for; included before anything of Highway.
//
// AVX3_DL is AVX-512 with VBMI, VNNI, BITALG and VPOPCNTDQ (Ice Lake, Zen 4 and later). Vectors
// whose size is not known to the compiler (SVE, RISC-V) cannot be kept in structs and arrays, as
// kernels here keep them: ARM has NEON.
#pragma once

#define HWY_WANT_AVX3_DL 1
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
