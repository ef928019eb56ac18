// SPDX-License-Identifier: MIT
// polar-changes: what a change of one row costs through the C API, beside a search of one query, in
// an index of clustered rows with ids of the caller's. Named change/index string/rows.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench_check.h"
#include "bench/synthetic_rows.h"
#include "polarquant/polarquant.h"
#include "src/core/random.h"

namespace {

using polarquant::bench::check;

constexpr int32_t kDim = 384;
constexpr int64_t kOthers = 4096;  // rows to come
constexpr int64_t kResults = 10;

polar_work_options one_thread() {
  polar_work_options options;
  polar_work_options_init(&options);
  options.num_threads = 1;
  return options;
}

/// An index of `rows` rows with ids 0, 2, 4, …
class LivingIndex {
 public:
  LivingIndex(const char* description, int64_t rows)
      : rows_(rows), work_(one_thread()), others_(kOthers * kDim) {
    const polarquant::bench::SyntheticRows made(polarquant::bench::SyntheticKind::clustered, rows,
                                                kDim, 2);
    std::vector<float> x(static_cast<size_t>(rows * kDim));
    made.fill(0, rows, x.data());
    made.fill(rows, kOthers, others_.data());
    std::vector<int64_t> ids(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) ids[static_cast<size_t>(i)] = 2 * i;
    index_ = polarquant::bench::make_index(description, kDim);
    check(polar_index_train(index_.get(), std::min<int64_t>(rows, 40'000), x.data(), nullptr));
    check(polar_index_add_with_ids(index_.get(), rows, x.data(), ids.data(), nullptr));
  }

  void add(int64_t id) {
    check(polar_index_add_with_ids(index_.get(), 1, next_row(), &id, &work_));
  }
  void update(int64_t id) { check(polar_index_update(index_.get(), 1, &id, next_row(), &work_)); }
  void remove(int64_t id) {
    int64_t removed = 0;
    check(polar_index_remove(index_.get(), 1, &id, &removed));
    if (removed != 1) std::exit(1);
  }
  void search() {
    polar_search_options options;
    polar_search_options_init(&options);
    options.num_threads = 1;
    if (polar_index_nlist(index_.get()) > 0) options.nprobe = 16;
    float scores[kResults];
    int64_t ids[kResults];
    check(polar_index_search(index_.get(), 1, next_row(), kResults, &options, scores, ids));
  }
  int64_t known_id() { return 2 * random_.below(rows_); }

 private:
  const float* next_row() { return others_.data() + random_.below(kOthers) * kDim; }

  int64_t rows_;
  polar_work_options work_;
  std::vector<float> others_;
  polarquant::Random random_{4};
  polarquant::bench::IndexHandle index_;
};

void add_one(benchmark::State& state, const char* description) {
  LivingIndex index(description, state.range(0));
  int64_t id = 1;
  for (auto _ : state) index.add(id += 2);
}

/// In any order; as many as are timed come before, untimed.
void remove_one(benchmark::State& state, const char* description) {
  LivingIndex index(description, state.range(0));
  std::vector<int64_t> ids;
  polarquant::Random random(5);
  int64_t next = 1;
  for (auto _ : state) {
    if (ids.empty()) {
      state.PauseTiming();
      for (int i = 0; i < 1000; ++i) index.add(ids.emplace_back(next += 2));
      for (size_t i = ids.size() - 1; i > 0; --i)
        std::swap(ids[i], ids[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
      state.ResumeTiming();
    }
    index.remove(ids.back());
    ids.pop_back();
  }
}

void update_one(benchmark::State& state, const char* description) {
  LivingIndex index(description, state.range(0));
  for (auto _ : state) index.update(index.known_id());
}

void search_one(benchmark::State& state, const char* description) {
  LivingIndex index(description, state.range(0));
  for (auto _ : state) index.search();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int64_t kRows = 117'659;
  struct Row {
    std::string name;
    void (*run)(benchmark::State&, const char*);
  };
  const Row rows[] = {{"add_one", add_one},
                      {"remove_one", remove_one},
                      {"update_one", update_one},
                      {"search_one", search_one}};
  for (const char* description : {"Polar4", "IVF256,Polar4"}) {
    for (const Row& row : rows) {
      benchmark::RegisterBenchmark((row.name + "/" + description).c_str(), row.run, description)
          ->Arg(kRows)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "polar-changes: %s\n", error.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
