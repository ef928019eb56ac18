// SPDX-License-Identifier: MIT
#include "bench/cuda/resident.h"

#include <cstdio>
#include <limits>

#include "bench/bench_check.h"
#include "bench/cuda/device_timer.h"
#include "bench/cuda/found_rows.h"
#include "cuda/device_buffer.h"

namespace polarquant::bench {
namespace {

constexpr int kTurns = 5;

/// Queries and results of a call, in the device's memory.
class ResidentArrays {
 public:
  ResidentArrays(const ResidentRun& run, int64_t nq) {
    const size_t bytes = static_cast<size_t>(nq) * static_cast<size_t>(run.dim) * sizeof(float);
    const auto count = static_cast<size_t>(nq * run.results);
    queries_.need(bytes);
    scores_.need(count * sizeof(float));
    ids_.need(count * sizeof(int64_t));
    POLAR_CUDA_CHECK(
        cudaMemcpy(queries_.as<void>(), run.queries->data(), bytes, cudaMemcpyHostToDevice));
  }
  const float* queries() const { return queries_.as<float>(); }
  float* scores() const { return scores_.as<float>(); }
  int64_t* ids() const { return ids_.as<int64_t>(); }
  void read(FoundRows* found) const {
    POLAR_CUDA_CHECK(cudaMemcpy(found->scores.data(), scores(),
                                found->scores.size() * sizeof(float), cudaMemcpyDeviceToHost));
    POLAR_CUDA_CHECK(cudaMemcpy(found->ids.data(), ids(), found->ids.size() * sizeof(int64_t),
                                cudaMemcpyDeviceToHost));
  }

 private:
  cuda::DeviceBuffer queries_;
  cuda::DeviceBuffer scores_;
  cuda::DeviceBuffer ids_;
};

}  // namespace

void print_resident(const ResidentRun& run) {
  std::printf("%6s %9s %12s %12s %8s %8s\n", "nq", "exactness", "by host ms", "resident ms",
              "ratio", "agree");
  for (const int64_t nq : run.batches) {
    const ResidentArrays there(run, nq);
    for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = exactness;
      FoundRows by_host(nq, run.results);
      FoundRows resident(nq, run.results);
      std::vector<double> times[2];
      for (int turn = 0; turn < kTurns; ++turn) {
        times[0].push_back(time_call([&] {
          check(polar_cuda_index_search(run.index, nq, run.queries->data(), run.results, &options,
                                        nullptr, by_host.scores.data(), by_host.ids.data()));
        }));
        times[1].push_back(time_call([&] {
          check(polar_cuda_index_search(run.index, nq, there.queries(), run.results, &options,
                                        nullptr, there.scores(), there.ids()));
        }));
      }
      there.read(&resident);
      std::printf("%6lld %9.3g %12.3f %12.3f %8.2f %8s\n", static_cast<long long>(nq),
                  static_cast<double>(exactness), median(times[0]), median(times[1]),
                  median(times[0]) / median(times[1]), resident == by_host ? "yes" : "NO");
      std::fflush(stdout);
    }
  }
}

}  // namespace polarquant::bench
