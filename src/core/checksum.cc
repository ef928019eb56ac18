// SPDX-License-Identifier: MIT
#include "src/core/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace polarquant {

uint64_t checksum64(const void* data, size_t bytes) noexcept { return XXH3_64bits(data, bytes); }

struct StreamingChecksum::State {
  XXH3_state_t state;
};

StreamingChecksum::StreamingChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->state);
}
StreamingChecksum::~StreamingChecksum() = default;
StreamingChecksum::StreamingChecksum(StreamingChecksum&&) noexcept = default;
StreamingChecksum& StreamingChecksum::operator=(StreamingChecksum&&) noexcept = default;

void StreamingChecksum::add(const void* data, size_t bytes) noexcept {
  XXH3_64bits_update(&state_->state, data, bytes);
}

uint64_t StreamingChecksum::sum() const noexcept { return XXH3_64bits_digest(&state_->state); }

}  // namespace polarquant
