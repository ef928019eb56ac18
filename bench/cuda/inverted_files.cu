// SPDX-License-Identifier: MIT
#include "bench/cuda/inverted_files.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "bench/bench_check.h"
#include "bench/cuda/built_index.h"
#include "bench/cuda/device_timer.h"
#include "bench/cuda/found_rows.h"

namespace polarquant::bench {
namespace {

constexpr int kTurns = 3;

struct Copied {
  IndexHandle index;
  std::unique_ptr<polar_cuda_index, Deleter> device;
};

Copied build(const std::string& description, const InvertedFileRun& run,
             const SyntheticRows& synthetic) {
  Copied made;
  made.index = build_index(description, {run.rows, run.dim, run.lists}, synthetic);
  polar_cuda_index* device = nullptr;
  check(polar_cuda_index_from_index(made.index.get(), nullptr, &device));
  made.device.reset(device);
  return made;
}

/// A filter that is asked once for all searches.
class KeptBits {
 public:
  KeptBits(const std::vector<uint64_t>& words, int64_t rows) {
    polar_filter given;
    polar_filter_init(&given);
    given.kind = POLAR_FILTER_BITSET;
    given.bitset = {words.data(), rows};
    check(polar_prepared_filter_create(&given, &prepared_));
    polar_filter_init(&filter_);
    filter_.kind = POLAR_FILTER_PREPARED;
    filter_.prepared = prepared_;
  }
  ~KeptBits() { polar_prepared_filter_destroy(prepared_); }
  KeptBits(const KeptBits&) = delete;
  KeptBits& operator=(const KeptBits&) = delete;

  const polar_filter* get() const { return &filter_; }

 private:
  polar_prepared_filter* prepared_ = nullptr;
  polar_filter filter_;
};

}  // namespace

void print_inverted_file(const InvertedFileRun& run, const SyntheticRows& synthetic) {
  const std::string spec = run.refine.empty() ? run.spec : run.spec + "," + run.refine;
  const std::string description = "IVF" + std::to_string(run.lists) + "," + spec;
  const Copied lists = build(description, run, synthetic);
  const Copied flat = build(spec, run, synthetic);
  std::vector<uint64_t> kept(static_cast<size_t>(run.rows / 64 + 1));
  for (int64_t row = 0; row < run.rows; row += run.keep_every)
    kept[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  const KeptBits filter(kept, run.rows);
  const int64_t most = *std::max_element(run.batches.begin(), run.batches.end());
  std::vector<float> queries(static_cast<size_t>(most) * static_cast<size_t>(run.dim));
  synthetic.fill(run.rows, most, queries.data());
  const int64_t k = run.results;
  std::printf("\n%s, %lld rows of %d, one of %lld kept; k = %lld\n", description.c_str(),
              static_cast<long long>(run.rows), run.dim, static_cast<long long>(run.keep_every),
              static_cast<long long>(k));
  std::printf("%6s %6s %9s %9s %9s %9s %9s %9s\n", "nprobe", "nq", "exactness", "lists ms",
              "flat ms", "CPU ms", "of flat", "as CPU");
  for (const int64_t nprobe : run.nprobes) {
    for (const int64_t nq : run.batches) {
      for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
        polar_search_options options;
        polar_search_options_init(&options);
        options.exactness = exactness;
        if (run.keep_every > 1) options.filter = filter.get();
        FoundRows without_lists(nq, k);
        FoundRows ours(nq, k);
        FoundRows cpu(nq, k);
        const auto search = [&](const Copied& copy, FoundRows* found) {
          check(polar_cuda_index_search(copy.device.get(), nq, queries.data(), k, &options, nullptr,
                                        found->scores.data(), found->ids.data()));
        };
        std::vector<double> times[3];
        for (int turn = 0; turn < kTurns; ++turn) {
          options.nprobe = 0;
          times[0].push_back(time_call([&] { search(flat, &without_lists); }, 5));
          options.nprobe = nprobe;
          times[1].push_back(time_call([&] { search(lists, &ours); }, 5));
          times[2].push_back(time_call(
              [&] {
                check(polar_index_search(lists.index.get(), nq, queries.data(), k, &options,
                                         cpu.scores.data(), cpu.ids.data()));
              },
              nq == 1 ? 5 : 1));
        }
        std::printf("%6lld %6lld %9.3g %9.3f %9.3f %9.3f %9.4f %9s\n",
                    static_cast<long long>(nprobe), static_cast<long long>(nq),
                    static_cast<double>(exactness), median(times[1]), median(times[0]),
                    median(times[2]), share_found(without_lists, ours, k),
                    ours == cpu ? "to the bit" : "DIFFERENT");
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace polarquant::bench
