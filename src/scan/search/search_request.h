// SPDX-License-Identifier: MIT
// The arguments of a search, of whatever rows: the one argument of every search inside the library.
// FAISS's parameters and the C options become it once, where they come in.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "src/core/rows_state.h"
#include "src/scan/search/row_filter.h"

namespace polarquant {

/// Loses at most .001 of recall@10 against scoring every row, on all real embeddings measured
/// (docs/benchmarks.md).
inline constexpr float kDefaultExactness = 2.25F;
inline constexpr float kScoreEveryRow = std::numeric_limits<float>::infinity();

/// What a search finds for each query: the k ≥ 1 best rows, or all rows within a radius, whose
/// scores are above it where higher is nearer, else below it. Queries may have radii of their own.
struct SearchGoal {
  static SearchGoal best(int64_t k) { return {.k = k}; }
  static SearchGoal within(float radius) { return {.radius = radius, .is_range = true}; }
  static SearchGoal within(const float* radii) { return {.radii = radii, .is_range = true}; }

  float radius_of(int64_t query) const { return radii != nullptr ? radii[query] : radius; }

  int64_t k = 0;
  float radius = 0;
  const float* radii = nullptr;  // (nq), in the place of radius; borrowed
  bool is_range = false;
};

/// How a search finds it; each option means something to some stores. 0: the index's own number.
struct SearchOptions {
  /// z of docs/dev/bounds.md, 0 to +inf: the standard deviations that a row's bound adds to the
  /// estimate by its signs. Codes without a sign plane, and vectors of fewer than 64 dimensions,
  /// always have every row scored.
  float exactness = kDefaultExactness;
  int64_t nprobe = 0;     // lists of an inverted file
  int64_t ef_search = 0;  // nodes that a search of a graph keeps
  double k_factor = 0;    // rows that a refinement scores again, as a multiple of k
};

struct SearchRequest {
  int64_t nq = 0;
  const float* queries = nullptr;  // (nq, dim), finite; borrowed
  SearchGoal goal = {};
  /// Over row positions, or over ids where a store has them.
  RowFilter filter = {};
  /// The rows that are searched, for what a prepared filter found of them (core/rows_state.h).
  uint64_t rows_state = kUnknownRows;
  SearchOptions options = {};
  int threads = 0;  // as core/parallel.h
  /// Told the share of the work that is done, 0 to 1, now and then and from any thread, one at a
  /// time; false stops the search, which then throws cancelled. Empty: not asked.
  std::function<bool(double done)> progress = {};
};

}  // namespace polarquant
