// SPDX-License-Identifier: MIT
#include "bench/cuda/refreshes.h"

#include <chrono>
#include <cstdio>
#include <memory>

#include "bench/bench_check.h"
#include "bench/cuda/built_index.h"
#include "bench/cuda/found_rows.h"
#include "bench/median.h"

namespace polarquant::bench {
namespace {

constexpr int kTurns = 5;
constexpr int64_t kQueries = 64;

using CudaIndexHandle = std::unique_ptr<polar_cuda_index, Deleter>;

template <typename Body>
double milliseconds_of(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

CudaIndexHandle copy(const polar_index* index) {
  polar_cuda_index* made = nullptr;
  check(polar_cuda_index_from_index(index, nullptr, &made));
  return CudaIndexHandle(made);
}

double megabytes_of(const polar_cuda_index* index) {
  size_t bytes = 0;
  check(polar_cuda_index_memory_bytes(index, &bytes));
  return static_cast<double>(bytes) / 1e6;
}

}  // namespace

void print_refreshes(const RefreshRun& run, const SyntheticRows& synthetic) {
  const std::string description =
      run.lists > 0 ? "IVF" + std::to_string(run.lists) + "," + run.spec : run.spec;
  const IndexHandle index = build_index(description, {run.rows, run.dim, run.lists}, synthetic);
  const CudaIndexHandle followed = copy(index.get());
  const double copied_mb = megabytes_of(followed.get());
  std::printf("\n%s, %lld rows of %d, copied in %.0f MB\n", description.c_str(),
              static_cast<long long>(run.rows), run.dim, copied_mb);
  std::printf("%10s %10s %12s %12s %8s %10s %8s\n", "added", "rows", "refresh ms", "new copy ms",
              "ratio", "MB there", "agree");
  std::vector<float> queries(kQueries * static_cast<size_t>(run.dim));
  synthetic.fill(run.rows, kQueries, queries.data());
  for (const int64_t added : run.added) {
    std::vector<double> times[2];
    bool agree = true;
    // The first turn, in which rows may move to where there is room, is not counted.
    for (int turn = -1; turn < kTurns; ++turn) {
      add_rows(index.get(), run.dim, polar_index_ntotal(index.get()), added, synthetic);
      const double follow =
          milliseconds_of([&] { check(polar_cuda_index_refresh(followed.get(), index.get())); });
      CudaIndexHandle anew;
      const double copy_anew = milliseconds_of([&] { anew = copy(index.get()); });
      if (turn < 0) {
        std::printf("%10lld %10lld %12.3f %12.3f   the first time\n", static_cast<long long>(added),
                    static_cast<long long>(polar_index_ntotal(index.get())), follow, copy_anew);
      } else {
        times[0].push_back(follow);
        times[1].push_back(copy_anew);
      }
      FoundRows found[2] = {FoundRows(kQueries, run.results), FoundRows(kQueries, run.results)};
      const polar_cuda_index* copies[] = {followed.get(), anew.get()};
      for (int i = 0; i < 2; ++i)
        check(polar_cuda_index_search(copies[i], kQueries, queries.data(), run.results, nullptr,
                                      nullptr, found[i].scores.data(), found[i].ids.data()));
      agree = agree && found[0] == found[1];
    }
    std::printf("%10lld %10lld %12.3f %12.3f %8.1f %10.0f %8s\n", static_cast<long long>(added),
                static_cast<long long>(polar_index_ntotal(index.get())), median(times[0]),
                median(times[1]), median(times[1]) / median(times[0]), megabytes_of(followed.get()),
                agree ? "yes" : "NO");
    std::fflush(stdout);
  }
}

}  // namespace polarquant::bench
