// SPDX-License-Identifier: MIT
// What the instruction set has that a kernel is being compiled for, as conditions for #if. Include
// it after <hwy/highway.h>, in files that foreach_target compiles over and over.
//
// A kernel asks for what its special form needs, never for a target by name: a later Highway has
// targets above AVX3_DL (AVX3_ZEN4, AVX3_SPR, AVX10_2), Highway chooses the first that the machine
// has, and each of them has all that AVX3_DL has. Highway numbers the targets of a processor family
// downwards, the best lowest.
//
// VBMI, VNNI and VPOPCNT come together with every target of Highway that has one of them; a kernel
// that needs several asks for the one that it is built around.
#pragma once

/// One lane: Highway without vectors.
#define POLAR_SIMD_SCALAR (HWY_TARGET == HWY_SCALAR)
/// x86 with intrinsics of 128 bits at the least.
#define POLAR_SIMD_X86 (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
/// AVX2, with FMA, F16C and BMI2.
#define POLAR_SIMD_AVX2 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
/// AVX-512's foundation, with BW, DQ and VL: Skylake.
#define POLAR_SIMD_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
/// Permutations of 64 bytes, shifts of bytes out of words, compressed bytes (VBMI and VBMI2): Ice
/// Lake, Zen 4.
#define POLAR_SIMD_VBMI (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)
/// Sums of four products of bytes and of two products of 16 bits.
#define POLAR_SIMD_VNNI (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)
/// Counted bits of words and bytes (VPOPCNTDQ and BITALG).
#define POLAR_SIMD_VPOPCNT (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)
/// 64-bit ARM with intrinsics of NEON.
#define POLAR_SIMD_NEON (HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
