// SPDX-License-Identifier: MIT
#include "bench/cuda/several_devices.h"

#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>

#include "bench/bench_check.h"
#include "bench/cuda/device_timer.h"
#include "bench/cuda/found_rows.h"

namespace polarquant::bench {
namespace {

constexpr int kTurns = 3;

std::unique_ptr<polar_cuda_index, Deleter> spread(const SeveralDevicesRun& run,
                                                  polar_cuda_layout layout) {
  std::vector<int32_t> devices(static_cast<size_t>(run.devices));
  std::iota(devices.begin(), devices.end(), 0);
  polar_cuda_options options;
  polar_cuda_options_init(&options);
  options.devices = devices.data();
  options.num_devices = run.devices;
  options.layout = layout;
  polar_cuda_index* index = nullptr;
  check(polar_cuda_index_from_codes(run.codec, run.rows, run.codes->data(), run.codes->size(),
                                    &options, &index));
  return std::unique_ptr<polar_cuda_index, Deleter>(index);
}

}  // namespace

void print_several_devices(const SeveralDevicesRun& run) {
  const auto sharded = spread(run, POLAR_CUDA_SHARDED);
  const auto replicated = spread(run, POLAR_CUDA_REPLICATED);
  const polar_cuda_index* places[] = {run.one, sharded.get(), replicated.get()};
  std::printf("%6s %9s %10s %10s %8s %10s %8s %8s\n", "nq", "exactness", "one ms", "shards ms",
              "ratio", "copies ms", "ratio", "agree");
  for (const int64_t nq : run.batches) {
    for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = exactness;
      std::vector<FoundRows> found(3, FoundRows(nq, run.results));
      std::vector<double> times[3];
      for (int turn = 0; turn < kTurns; ++turn) {
        for (size_t i = 0; i < 3; ++i) {
          times[i].push_back(time_call(
              [&] {
                check(polar_cuda_index_search(places[i], nq, run.queries->data(), run.results,
                                              &options, nullptr, found[i].scores.data(),
                                              found[i].ids.data()));
              },
              5));
        }
      }
      const double one = median(times[0]);
      std::printf("%6lld %9.3g %10.3f %10.3f %8.2f %10.3f %8.2f %8s\n", static_cast<long long>(nq),
                  static_cast<double>(exactness), one, median(times[1]), one / median(times[1]),
                  median(times[2]), one / median(times[2]),
                  found[1] == found[0] && found[2] == found[0] ? "yes" : "NO");
      std::fflush(stdout);
    }
  }
}

}  // namespace polarquant::bench
