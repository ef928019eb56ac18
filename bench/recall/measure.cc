// SPDX-License-Identifier: MIT
#include "bench/recall/measure.h"

#include <dlfcn.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "bench/median.h"
#include "bench/recall/folded_stderr.h"
#include "bench/recall/ground_truth.h"
#include "bench/recall/progress.h"
#include "include/polarquant/faiss.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

constexpr int64_t kAddBlockRows = 16384;
constexpr int64_t kWarmUpQueries = 16;
constexpr int64_t kLeastSingleQueries = 10;
// Clocks and schedulers blur what is shorter; a run repeats its batch until then.
constexpr double kLeastRunSeconds = 0.05;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct ResultBuffers {
  ResultBuffers(int64_t nq, int64_t k)
      : distances(static_cast<size_t>(nq * k)), ids(static_cast<size_t>(nq * k)) {}
  std::vector<float> distances;
  std::vector<int64_t> ids;
};

Throughput run_batches(const ::faiss::Index& index, const FloatMatrix& query,
                       const MeasureOptions& options, ResultBuffers& out) {
  Throughput result;
  for (int run = 0; run < options.repeat; ++run) {
    int64_t queries = 0;
    double spent = 0;
    const Clock::time_point start = Clock::now();
    do {
      index.search(query.rows, query.values.data(), options.k, out.distances.data(),
                   out.ids.data());
      queries += query.rows;
      spent = seconds_since(start);
    } while (spent < kLeastRunSeconds);
    result.runs_qps.push_back(static_cast<double>(queries) / spent);
    result.queries_per_run = run == 0 ? queries : std::min(result.queries_per_run, queries);
  }
  result.median_qps = median(result.runs_qps);
  return result;
}

Throughput run_singles(const ::faiss::Index& index, const FloatMatrix& query,
                       const MeasureOptions& options) {
  ResultBuffers out(1, options.k);
  Throughput result;
  std::vector<double> latencies_ms;
  for (int run = 0; run < options.repeat; ++run) {
    int64_t queries = 0;
    double spent = 0;
    for (int64_t q = 0; q < query.rows; ++q) {
      const Clock::time_point start = Clock::now();
      index.search(1, query.row(q), options.k, out.distances.data(), out.ids.data());
      const double seconds = seconds_since(start);
      latencies_ms.push_back(seconds * 1e3);
      spent += seconds;
      ++queries;
      if (spent > options.one_limit_s && queries >= kLeastSingleQueries) break;
    }
    result.runs_qps.push_back(static_cast<double>(queries) / spent);
    result.queries_per_run = run == 0 ? queries : std::min(result.queries_per_run, queries);
  }
  result.median_qps = median(result.runs_qps);
  result.p50_ms = percentile(latencies_ms, 0.50);
  result.p95_ms = percentile(latencies_ms, 0.95);
  result.p99_ms = percentile(latencies_ms, 0.99);
  return result;
}

// Looked up at run time: another BLAS has no such functions, and then follows OpenMP or stays
// serial.
template <typename Function>
Function openblas_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

void set_blas_threads(int threads) {
  if (auto set = openblas_function<void (*)(int)>("openblas_set_num_threads")) set(threads);
}

/// One BLAS thread while it lives.
class SerialBlas {
 public:
  SerialBlas() {
    if (auto get = openblas_function<int (*)()>("openblas_get_num_threads")) before_ = get();
    set_blas_threads(1);
  }
  ~SerialBlas() {
    if (before_ > 0) set_blas_threads(before_);
  }
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int before_ = 0;
};

/// FAISS's IDMap refuses add(); given each row's number as its id, it answers as the others do.
bool wants_ids(const ::faiss::Index& index) {
  if (const auto* outer = dynamic_cast<const ::faiss::IndexPreTransform*>(&index)) {
    return wants_ids(*outer->index);
  }
  return dynamic_cast<const ::faiss::IndexIDMap*>(&index) != nullptr;
}

}  // namespace

void limit_threads(int threads) {
  omp_set_num_threads(threads);
  set_blas_threads(threads);
}

BuiltIndex build_index(const std::string& description, const BenchmarkData& data,
                       const MeasureOptions& options, const std::string& label) {
  const FloatMatrix& base = data.base;
  Progress progress(label);
  BuiltIndex built;
  built.index = index_factory(static_cast<int>(base.dim), description, faiss_metric(data.distance));

  // Also for indexes that need no training: it is where a codec learns its centre, from more rows
  // than the first block added below.
  progress.step("training");
  const int64_t limit = options.train_rows == kAllRows ? kDefaultTrainRows : options.train_rows;
  Clock::time_point start = Clock::now();
  {
    // k-means calls small matrix products between parallel loops. With a second thread in each,
    // OpenBLAS's pool and OpenMP's, which both spin while they wait, take the processors from each
    // other wherever there are no more processors than threads.
    const SerialBlas serial;
    const FoldedStderr folded;
    built.index->train(std::min(limit, base.rows), base.values.data());
  }
  built.train_s = seconds_since(start);

  const bool with_ids = wants_ids(*built.index);
  std::vector<int64_t> ids;
  start = Clock::now();
  for (int64_t first = 0; first < base.rows; first += kAddBlockRows) {
    const int64_t count = std::min(kAddBlockRows, base.rows - first);
    if (with_ids) {
      ids.resize(static_cast<size_t>(count));
      std::iota(ids.begin(), ids.end(), first);
      built.index->add_with_ids(count, base.row(first), ids.data());
    } else {
      built.index->add(count, base.row(first));
    }
    progress.update(first + count, base.rows);
  }
  built.add_s = seconds_since(start);
  require(built.index->ntotal == base.rows, StatusCode::internal,
          "the index holds {} rows after adding {}", built.index->ntotal, base.rows);
  return built;
}

SearchResult measure_search(const ::faiss::Index& index, const BenchmarkData& data,
                            const MeasureOptions& options, const std::string& label) {
  const FloatMatrix& query = data.query;
  ResultBuffers out(query.rows, options.k);
  SearchResult result;
  Progress progress(label);
  progress.step("searching");
  index.search(std::min(kWarmUpQueries, query.rows), query.values.data(), options.k,
               out.distances.data(), out.ids.data());
  if (options.batch) {
    result.batch = run_batches(index, query, options, out);
  } else {
    // Recall needs every query, which the runs below may cut.
    index.search(query.rows, query.values.data(), options.k, out.distances.data(), out.ids.data());
  }
  const bool l2 = data.distance == Distance::l2;
  result.recall =
      count_recall(out.ids, data.ground_truth, options.k, [&](int64_t one_query, int64_t row) {
        return exact_cost(query.row(one_query), data.base.row(row), query.dim, l2);
      });
  if (options.one) {
    progress.step("searching, one query at a time");
    result.one = run_singles(index, query, options);
  }
  return result;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

}  // namespace polarquant::bench
