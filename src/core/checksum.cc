// SPDX-License-Identifier: MIT
#include "src/core/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace polarquant {

uint64_t checksum64(const void* data, size_t bytes) noexcept { return XXH3_64bits(data, bytes); }

}  // namespace polarquant
