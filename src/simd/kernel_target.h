// SPDX-License-Identifier: MIT
#pragma once

namespace polarquant {

/// The instruction set that kernels run on, by Highway's name: "AVX3_DL", "NEON", …
const char* kernel_target();

}  // namespace polarquant
