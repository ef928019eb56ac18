// SPDX-License-Identifier: MIT
// What training measures for searches of a trained code: how far its estimates of scores are off.
#pragma once

#include <cstdint>
#include <functional>

namespace polarquant {

class Codec;

/// Factors of the margins of a staged search (BoundConstants in src/scan/model/scan_codec.h): 1
/// where its margins are right as they are, and where nothing was measured.
struct SearchMargins {
  float sketch = 1;  // by the signs that are read of every row
  float next = 1;    // by the stage after them

  static constexpr float kLeast = 1;
  static constexpr float kMost = 4;

  bool operator==(const SearchMargins&) const = default;
};

/// Measures the margins of a codec just trained with rows x, (n, dim), which nobody else uses.
using MeasureMargins = std::function<SearchMargins(Codec& trained, int64_t n, const float* x)>;

}  // namespace polarquant
