// SPDX-License-Identifier: MIT
// What this machine can do at most, measured: the roofs that kernels are held against.
#pragma once

#include <cstdint>

namespace polarquant::micro {

/// Products of bytes a second, of the chosen target's dot-product instruction in registers (VNNI on
/// AVX3_DL, pairs of 16 bits elsewhere), one thread.
double dot_products_per_second();
/// The same of AMX; 0 without.
double amx_products_per_second();
/// Bytes a second that one thread reads from memory, 256 MiB in a row.
double read_bytes_per_second();

}  // namespace polarquant::micro
