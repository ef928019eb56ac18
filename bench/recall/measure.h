// SPDX-License-Identifier: MIT
// Building one index and timing its searches.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/index_params.h"
#include "bench/recall/recall.h"

namespace polarquant::bench {

/// Enough for every codec here; more would only make k-means slower.
inline constexpr int64_t kDefaultTrainRows = 100000;

struct MeasureOptions {
  int64_t k = 10;
  int64_t train_rows =
      kAllRows;  ///< the first rows of the base; kAllRows: kDefaultTrainRows or fewer
  int threads = 1;
  bool batch = true;  ///< all queries in one call
  bool one = false;   ///< one query a call
  int repeat = 3;
  int builds = 1;          ///< how often each index is built and timed
  double one_limit_s = 5;  ///< a run of one query a call stops here, after 10 queries at least
};

/// A built index and what building it cost.
struct BuiltIndex {
  std::unique_ptr<::faiss::Index> index;
  double train_s = 0;
  double add_s = 0;
};

/// What building an index took, a figure for each time.
struct BuildTimes {
  void add(const BuiltIndex& built) {
    train_s.push_back(built.train_s);
    add_s.push_back(built.add_s);
  }

  std::vector<double> train_s;
  std::vector<double> add_s;
};

/// Times of one mode: a figure per run, their median, and what the runs are made of.
struct Throughput {
  std::vector<double> runs_qps;
  double median_qps = 0;
  int64_t queries_per_run = 0;  ///< of the shortest run
  /// Times of single calls in milliseconds, over all runs; only for one query a call.
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
};

struct SearchResult {
  Recall recall;
  Throughput batch;
  Throughput one;
};

/// Limits the threads of OpenMP and of OpenBLAS, if that is the BLAS: the latter has a pool of its
/// own.
void limit_threads(int threads);

/// Makes, trains and fills an index. `label` is shown by the progress display.
/// Errors: what the factory, train and add throw.
BuiltIndex build_index(const std::string& description, const BenchmarkData& data,
                       const MeasureOptions& options, const std::string& label);

/// Searches for recall and time with whatever parameters the index has set. Errors: what search
/// throws.
SearchResult measure_search(const ::faiss::Index& index, const BenchmarkData& data,
                            const MeasureOptions& options, const std::string& label);

/// The smallest value that at least `share` (0 to 1) of the values do not exceed.
double percentile(std::vector<double> values, double share);

}  // namespace polarquant::bench
