// SPDX-License-Identifier: MIT
// XXH3, 64 bits (xxHash), seed 0: against accidents, not enemies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace polarquant {

uint64_t checksum64(const void* data, size_t bytes) noexcept;

/// The same of bytes that come in pieces.
class StreamingChecksum {
 public:
  StreamingChecksum();
  ~StreamingChecksum();
  StreamingChecksum(StreamingChecksum&&) noexcept;
  StreamingChecksum& operator=(StreamingChecksum&&) noexcept;

  void add(const void* data, size_t bytes) noexcept;
  uint64_t sum() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace polarquant
