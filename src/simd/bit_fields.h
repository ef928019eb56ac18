// SPDX-License-Identifier: MIT
// Where fields of a few bits lie, one behind the other, for kernels that cut 64 at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace polarquant {

/// What brings 64 fields of up to 8 bits, one behind the other, into 64 bytes
/// (window_decode-inl.h): which bytes each eight of them lie in, and at which bits of
/// these.
struct FieldSpread {
  alignas(64) uint8_t bytes[64] = {};
  alignas(64) uint8_t shifts[64] = {};

  /// Of 64 bytes. The first field begins `first_bit` bits behind the first byte; `step` bits lie
  /// between fields.
  constexpr void set(int step, int first_bit) {
    for (int i = 0; i < 64; ++i) {
      bytes[i] = static_cast<uint8_t>(std::min(i / 8 * step + i % 8, 63));
      shifts[i] = static_cast<uint8_t>(first_bit + i % 8 * step);
    }
  }
  /// Of fields of 4 to 7 bits, the first 32 bytes that they lie in and behind them the last 32:
  /// what 64 bytes would have beyond the fields is mostly one cache line more.
  void set_by_halves(int step) {
    set(step, 0);
    const int skipped = 8 * step - 32;
    for (uint8_t& byte : bytes)
      if (byte >= 32) byte = static_cast<uint8_t>(std::min(byte - skipped + 32, 63));
  }
};

}  // namespace polarquant
