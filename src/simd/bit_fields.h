// SPDX-License-Identifier: MIT
// Where fields of a few bits lie, one after the other, for kernels that extract 64 at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace polarquant {

/// How 64 fields of up to 8 bits, one after the other, become 64 bytes (window_decode-inl.h): which
/// bytes each eight of them lie in, and at which bits of these.
struct FieldSpread {
  alignas(64) uint8_t bytes[64] = {};
  alignas(64) uint8_t shifts[64] = {};

  /// For 64 bytes. The first field begins `first_bit` bits after the first byte; `step` bits lie
  /// between fields.
  constexpr void set(int step, int first_bit) {
    for (int i = 0; i < 64; ++i) {
      bytes[i] = static_cast<uint8_t>(std::min(i / 8 * step + i % 8, 63));
      shifts[i] = static_cast<uint8_t>(first_bit + i % 8 * step);
    }
  }
  /// For fields of 4 to 7 bits: the first 32 bytes that they lie in, then the last 32. 64 bytes in
  /// one piece would mostly touch one cache line more.
  void set_by_halves(int step) {
    set(step, 0);
    const int skipped = 8 * step - 32;
    for (uint8_t& byte : bytes)
      if (byte >= 32) byte = static_cast<uint8_t>(std::min(byte - skipped + 32, 63));
  }
};

}  // namespace polarquant
