// SPDX-License-Identifier: MIT
// Top-k over rows in blocks, by integer levels: the search of an index. docs/scan.md explains it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "src/codec/codec.h"
#include "src/scan/row_filter.h"
#include "src/scan/scan_codec.h"

namespace polarquant {

/// Loses at most .001 of recall@10 against scoring every row, on all real embeddings measured
/// (docs/benchmarks.md).
inline constexpr float kDefaultExactness = 2.25F;
inline constexpr float kScoreEveryRow = std::numeric_limits<float>::infinity();

struct SearchOptions {
  /// z of docs/scan.md, 0 to +inf: how many standard deviations a row's bound stands above what its
  /// signs say. Codes without a sign plane, and vectors of fewer than 64 dimensions, always have
  /// every row scored.
  float exactness = kDefaultExactness;
  int threads = 0;  // as core/parallel.h
  /// Told the share of the work that is done, 0 to 1, now and then and from any thread, one at a
  /// time; false stops the search, which then throws cancelled. Empty: not asked.
  std::function<bool(double done)> progress;
};

/// The k best rows of `spans` for each of nq queries (nq, dim): scores (nq, k) best first and ids
/// (nq, k), row positions; where there are fewer than k rows, id −1 with score −inf (inner product,
/// cosine) or +inf (L2). The k rows are those of the largest min(score, bounds), ties to the lower
/// id; score and bounds by integer levels. What is returned, and orders them, is Codec::score of
/// each, to the bit. The result depends on neither threads nor the machine. Throws bad_argument for
/// nq < 0, k < 1, exactness below 0 or no number, and queries that are not finite.
void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids);
/// The same over rows in the row format.
void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                  const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids);

}  // namespace polarquant
