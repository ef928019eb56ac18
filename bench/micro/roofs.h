// SPDX-License-Identifier: MIT
// What this machine can do at most, measured: the roofs that kernels are held against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/core/aligned_buffer.h"

namespace polarquant::micro {

/// Products of bytes a second, of the chosen target's dot-product instruction in registers (VNNI on
/// AVX3_DL, pairs of 16 bits elsewhere), one thread.
double dot_products_per_second();
/// The same of AMX; 0 without.
double amx_products_per_second();
/// Seconds of a clock that only goes forward.
double seconds();

/// What one thread reads from memory, 256 MiB in a row.
class MemoryReads {
 public:
  static constexpr size_t kBytes = size_t{256} << 20;

  /// Reads once; the seconds that a byte took.
  double seconds_per_byte() const;

 private:
  AlignedVector<uint64_t> words_ = AlignedVector<uint64_t>(kBytes / sizeof(uint64_t), 1);
};

}  // namespace polarquant::micro
