// SPDX-License-Identifier: MIT
// What a caller can say of a search, beside its rows, queries and k.
#pragma once

#include <functional>
#include <limits>

namespace polarquant {

/// Loses at most .001 of recall@10 against scoring every row, on all real embeddings measured
/// (docs/benchmarks.md).
inline constexpr float kDefaultExactness = 2.25F;
inline constexpr float kScoreEveryRow = std::numeric_limits<float>::infinity();

struct SearchOptions {
  /// z of docs/dev/bounds.md, 0 to +inf: how many standard deviations a row's bound stands above
  /// what its signs say. Codes without a sign plane, and vectors of fewer than 64 dimensions,
  /// always have every row scored.
  float exactness = kDefaultExactness;
  int threads = 0;  // as core/parallel.h
  /// Told the share of the work that is done, 0 to 1, now and then and from any thread, one at a
  /// time; false stops the search, which then throws cancelled. Empty: not asked.
  std::function<bool(double done)> progress;
};

}  // namespace polarquant
