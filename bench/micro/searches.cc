// SPDX-License-Identifier: MIT
// Whole searches, held against what the machine can read and multiply; and what two threads gain.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "bench/median.h"
#include "bench/micro/micro.h"
#include "bench/micro/roofs.h"
#include "src/scan/kernels/dense/amx_dots.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/layout/code_blocks.h"
#include "src/scan/search/block_search.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant::micro {
namespace {

constexpr int kDim = 384;
constexpr int64_t kDifferent = 1 << 16;
constexpr int64_t kQueries = 1000;
constexpr int64_t kResults = 10;

/// Points around 1024 centres, so that a query has near rows as embeddings have, the first
/// directions the longest.
std::vector<float> clustered_rows(int64_t n, uint64_t seed) {
  constexpr int64_t kCentres = 1024;
  const std::vector<float> centres = normal_numbers(kCentres * kDim, 1);
  std::vector<float> rows = normal_numbers(static_cast<size_t>(n * kDim), seed);
  Random random(seed + 1);
  for (int64_t i = 0; i < n; ++i) {
    const float* centre = centres.data() + random.below(kCentres) * kDim;
    float* row = rows.data() + i * kDim;
    for (int j = 0; j < kDim; ++j) row[j] = (centre[j] + .7F * row[j]) / (1 + .02F * j);
  }
  return rows;
}

struct ReadyCodec : Codec {
  ReadyCodec(const char* spec, const std::vector<float>& x)
      : Codec(parse_spec(spec), kDim, Metric::inner_product, {}) {
    use_kernels(simd_codec_kernels());
    train(static_cast<int64_t>(x.size()) / kDim, x.data());
  }
};

/// An index of `rows` rows: the same codes over and over, which a scan reads like any others.
struct Index {
  Index(const char* spec, int64_t rows)
      : x(clustered_rows(std::min(rows, kDifferent), 3)),
        codec(spec, x),
        scan_codec(codec),
        blocks(scan_codec.layout()),
        queries(clustered_rows(kQueries, 5)) {
    const auto different = static_cast<int64_t>(x.size()) / kDim;
    std::vector<uint8_t> codes(codec.layout().bytes(different));
    codec.encode(different, x.data(), codes.data(), 1);
    for (int64_t added = 0; added < rows; added += different)
      blocks.append(std::min(different, rows - added), codes.data());
    spans = blocks.spans();
  }

  void search(int64_t first, int64_t nq, float exactness, int threads = 1) const {
    std::vector<float> scores(static_cast<size_t>(nq * kResults));
    std::vector<int64_t> ids(scores.size());
    block_search(codec, scan_codec, spans,
                 {.nq = nq,
                  .queries = queries.data() + first * kDim,
                  .goal = SearchGoal::best(kResults),
                  .options = {.exactness = exactness},
                  .threads = threads},
                 {scores.data(), ids.data()});
    benchmark::DoNotOptimize(ids.data());
  }

  std::vector<float> x;
  ReadyCodec codec;
  ScanCodec scan_codec;
  CodeBlocks blocks;
  std::vector<BlockRows> spans;
  std::vector<float> queries;
};

benchmark::Counter rate(double work) {
  return benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
}

/// One query a call; its share of the read speed counts the signs and factors of every row. Of both
/// the median counts: memory is read for as long as is searched, in turn, so that what others do on
/// the machine slows both down.
void one_query(benchmark::State& state, const char* spec) {
  const int64_t rows = state.range(0);
  const Index index(spec, rows);
  const MemoryReads memory;
  std::vector<double> searches;
  std::vector<double> reads = {memory.seconds_per_byte()};
  double searched = 0;  // since memory was read
  for (auto _ : state) {
    const double start = seconds();
    index.search(std::ssize(searches) % kQueries, 1, kDefaultExactness);
    searches.push_back(seconds() - start);
    searched += searches.back();
    if (searched < reads.back() * static_cast<double>(MemoryReads::kBytes)) continue;
    state.PauseTiming();
    reads.push_back(memory.seconds_per_byte());
    searched = 0;
    state.ResumeTiming();
  }
  const double bytes = static_cast<double>(rows / kBlockRows) *
                       static_cast<double>(index.scan_codec.layout().sketch_bytes(kBlockRows));
  state.counters["queries/s"] = rate(1);
  state.counters["GB/s"] = rate(bytes / 1e9);
  state.counters["of_read_speed"] = bytes * bench::median(reads) / bench::median(searches);
}

/// All queries in one call, every row scored; its share of the peak of the dot-product instruction
/// that the scan runs on.
void dense_batch(benchmark::State& state, const char* spec, bool amx) {
  const int64_t rows = state.range(0);
  const Index index(spec, rows);
  allow_amx(amx);
  const double peak = amx ? amx_products_per_second() : dot_products_per_second();
  for (auto _ : state) index.search(0, kQueries, kScoreEveryRow);
  allow_amx(true);
  const double products = static_cast<double>(rows * kQueries) * index.scan_codec.padded_dim();
  state.counters["queries/s"] = rate(kQueries);
  state.counters["of_dot_peak"] = rate(products / peak);
}

/// What two threads do.
enum class TwoThreads {
  one_query,  // together
  apart,      // a search of all rows each
  halves,     // a search of half of the rows each: what one query by both can be at best
};

/// Single queries; how many are done by both threads.
void two_threads(benchmark::State& state, const char* spec, TwoThreads what) {
  constexpr int64_t kInTurn = 100;
  const int64_t rows = state.range(0);
  std::deque<Index> indexes;
  for (int i = 0; i < 2; ++i)
    if (i == 0 || what != TwoThreads::one_query)
      indexes.emplace_back(spec, what == TwoThreads::halves ? rows / 2 : rows);
  int64_t query = 0;
  for (auto _ : state) {
    query = (query + kInTurn) % kQueries;
    if (what == TwoThreads::one_query) {
      for (int64_t i = 0; i < kInTurn; ++i) indexes[0].search(query + i, 1, kDefaultExactness, 2);
      continue;
    }
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (size_t thread = 0; thread < 2; ++thread) {
      for (int64_t i = 0; i < kInTurn; ++i) indexes[thread].search(query + i, 1, kDefaultExactness);
    }
  }
  state.counters["queries/s"] =
      rate(static_cast<double>(what == TwoThreads::apart ? 2 : 1) * kInTurn);
}

}  // namespace

void register_searches(int64_t rows) {
  for (const char* spec : {"Polar2", "Polar4"}) {
    benchmark::RegisterBenchmark((std::string("search/one/") + spec).c_str(), one_query, spec)
        ->Arg(rows)
        ->Unit(benchmark::kMicrosecond);
  }
  for (const auto& [name, what] : {std::pair{"search/two_threads/one_query", TwoThreads::one_query},
                                   std::pair{"search/two_threads/apart", TwoThreads::apart},
                                   std::pair{"search/two_threads/halves", TwoThreads::halves}}) {
    benchmark::RegisterBenchmark(name, two_threads, "Polar4", what)
        ->Arg(rows)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const bool amx : {true, false}) {
    if (amx && !query_tile_dots_use_amx()) continue;
    const char* name = amx ? "search/dense_1000/Polar4/AMX" : "search/dense_1000/Polar4";
    benchmark::RegisterBenchmark(name, dense_batch, "Polar4", amx)
        ->Arg(rows)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace polarquant::micro
