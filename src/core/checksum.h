// SPDX-License-Identifier: MIT
// XXH3, 64 bits (xxHash), seed 0: against accidents, not enemies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

uint64_t checksum64(const void* data, size_t bytes) noexcept;

}  // namespace polarquant
