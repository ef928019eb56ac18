// SPDX-License-Identifier: MIT
// The library's own random numbers: one seed gives the same numbers on every machine and compiler.
// std::*_distribution differs between standard libraries and libm between versions; neither is
// used. Part of the format version: a change here changes stored bytes.
#pragma once

#include <cstdint>

namespace polarquant {

/// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
/// with the finalizer of Vigna's public-domain splitmix64.c. Period 2^64.
class Random {
 public:
  explicit Random(uint64_t seed) noexcept : state_(seed) {}
  /// Independent streams of one seed: the stream number is mixed before it meets the seed.
  Random(uint64_t seed, uint64_t stream) noexcept;

  /// Uniform over all 64-bit values.
  uint64_t next() noexcept;
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() noexcept;
  /// Uniform in [0, bound), bound ≥ 1; unbiased (multiply and reject: Lemire, ACM TOMACS 2019).
  uint64_t below(uint64_t bound) noexcept;
  /// Standard normal, by Marsaglia's polar method over portable_log and the exact IEEE square root.
  double normal() noexcept;

 private:
  uint64_t state_;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace polarquant
