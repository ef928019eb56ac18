// SPDX-License-Identifier: MIT
// The advisor: which code to take for vectors like these. Every candidate is trained, encodes and
// searches a sample, so that the answer is measured and not looked up. docs/choosing.md explains
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/advice/advice_choice.h"
#include "src/advice/exact_search.h"

namespace polarquant {

struct AdviceOptions {
  AdviceWish wish;
  /// Names of codes; empty: few_bytes_candidates() and advice_candidates(). The counterpart of a
  /// trained one is measured too.
  std::vector<std::string> specs;
  /// The most rows to search, and queries; other rows of the sample are for training alone.
  int64_t max_rows = 20000;
  int64_t max_queries = 1000;
  /// The rows of the whole collection, of which the sample is a part; 0: n.
  int64_t total_rows = 0;
  /// The seed of the drawing and of rotations.
  uint64_t seed = 1;
  int threads = 0;  // as core/parallel.h
  /// As SearchRequest::progress. Training one code is not interrupted.
  std::function<bool(double done)> progress;
};

struct Advice {
  std::vector<AdviceRow> rows;
  AdviceChoice choice;
  int64_t queries = 0;
  bool held_out_queries = false;
  int64_t train_rows = 0;
  int64_t base_rows = 0;
  int64_t total_rows = 0;  // that expected_recall is for
};

/// Measures candidates on the rows, finite, and the queries, or without any: rows that are held
/// out. No row is in two of queries, training and base, so that recall is that of rows
/// which training has not seen. Recall@k is that of a search with the default exactness against
/// exact neighbours by float over the rows searched; a quarter of them is searched alone, too,
/// which tells expected_recall. The same for a seed, whatever the number of threads; where a code
/// is trained, on one machine and LAPACK. A code that cannot be measured has its `problem`, the
/// others go on. Throws bad_argument for options outside what is allowed, wrong names, and too few
/// rows or queries; cancelled. Memory: the drawn rows as floats, and one candidate's codes.
Advice advise(const RowsAndQueries& vectors, const AdviceOptions& options);

}  // namespace polarquant
