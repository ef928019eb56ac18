// SPDX-License-Identifier: MIT
// What training finds out for searches of a trained code: how far estimates of scores stand off.
#pragma once

#include <cstdint>
#include <functional>

namespace polarquant {

class Codec;

/// Factors of the margins that a staged search has anyway (BoundConstants in
/// src/scan/model/scan_codec.h): 1 where they do, and where nothing was measured.
struct SearchMargins {
  float sketch = 1;  // by the signs that are read of every row
  float next = 1;    // by the stage behind them

  static constexpr float kLeast = 1;
  static constexpr float kMost = 4;

  bool operator==(const SearchMargins&) const = default;
};

/// Measures them of a codec that was just trained with rows x, (n, dim), and that nobody else has.
using MeasureMargins = std::function<SearchMargins(Codec& trained, int64_t n, const float* x)>;

}  // namespace polarquant
