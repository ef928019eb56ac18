// SPDX-License-Identifier: MIT
// Which instruction sets kernels are compiled for; included before anything of Highway.
//
// AVX3_DL is AVX-512 with VBMI, VNNI, BITALG and VPOPCNTDQ (Ice Lake, Zen 4 and later). SSSE3 is
// left out: nothing that lacks SSE4.1 is worth the size.
#pragma once

#define HWY_WANT_AVX3_DL 1
