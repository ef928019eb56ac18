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
/// Launches of a graph one after the other, of which the last is waited for.
constexpr int kLaunches = 10;

/// Queries and results of a call, in the device's memory.
class ResidentArrays {
 public:
  ResidentArrays(const ResidentRun& run, int64_t nq) {
    const size_t bytes = static_cast<size_t>(nq) * static_cast<size_t>(run.dim) * sizeof(float);
    const auto count = static_cast<size_t>(nq * run.results);
    queries_.need(bytes);
    scores_.need(count * sizeof(float));
    ids_.need(count * sizeof(int64_t));
    unfinished_.need(sizeof(int32_t));
    POLAR_CUDA_CHECK(
        cudaMemcpy(queries_.as<void>(), run.queries->data(), bytes, cudaMemcpyHostToDevice));
  }
  const float* queries() const { return queries_.as<float>(); }
  float* scores() const { return scores_.as<float>(); }
  int64_t* ids() const { return ids_.as<int64_t>(); }
  int32_t* unfinished() const { return unfinished_.as<int32_t>(); }
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
  cuda::DeviceBuffer unfinished_;
};

/// A prepared search of these arrays in a CUDA graph.
class GraphOfSearch {
 public:
  GraphOfSearch(const ResidentRun& run, int64_t nq, const ResidentArrays& arrays,
                const polar_search_options& options)
      : arrays_(arrays) {
    check(polar_cuda_search_create(run.index, nq, run.results, &options, &search_));
    POLAR_CUDA_CHECK(cudaStreamCreate(&stream_));
    POLAR_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    check(polar_cuda_search_start(search_, arrays.queries(), stream_, arrays.scores(), arrays.ids(),
                                  arrays.unfinished()));
    cudaGraph_t graph = nullptr;
    POLAR_CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
    POLAR_CUDA_CHECK(cudaGraphInstantiate(&launched_, graph, 0));
    POLAR_CUDA_CHECK(cudaGraphDestroy(graph));
  }
  ~GraphOfSearch() {
    cudaGraphExecDestroy(launched_);
    cudaStreamDestroy(stream_);
    polar_cuda_search_destroy(search_);
  }
  GraphOfSearch(const GraphOfSearch&) = delete;
  GraphOfSearch& operator=(const GraphOfSearch&) = delete;

  void launch(int times) const {
    for (int i = 0; i < times; ++i) POLAR_CUDA_CHECK(cudaGraphLaunch(launched_, stream_));
    POLAR_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  bool is_finished() const {
    int32_t unfinished = 1;
    POLAR_CUDA_CHECK(
        cudaMemcpy(&unfinished, arrays_.unfinished(), sizeof unfinished, cudaMemcpyDeviceToHost));
    return unfinished == 0;
  }

 private:
  const ResidentArrays& arrays_;
  polar_cuda_search* search_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t launched_ = nullptr;
};

}  // namespace

void print_resident(const ResidentRun& run) {
  std::printf("%6s %9s %12s %12s %8s %12s %12s %8s\n", "nq", "exactness", "by host ms",
              "resident ms", "ratio", "graph ms", "10 after", "agree");
  for (const int64_t nq : run.batches) {
    const ResidentArrays there(run, nq);
    for (const float exactness : {2.25F, std::numeric_limits<float>::infinity()}) {
      polar_search_options options;
      polar_search_options_init(&options);
      options.exactness = exactness;
      FoundRows by_host(nq, run.results);
      FoundRows resident(nq, run.results);
      const GraphOfSearch graph(run, nq, there, options);
      std::vector<double> times[4];
      bool agree = true;
      for (int turn = 0; turn < kTurns; ++turn) {
        times[0].push_back(time_call([&] {
          check(polar_cuda_index_search(run.index, nq, run.queries->data(), run.results, &options,
                                        nullptr, by_host.scores.data(), by_host.ids.data()));
        }));
        times[1].push_back(time_call([&] {
          check(polar_cuda_index_search(run.index, nq, there.queries(), run.results, &options,
                                        nullptr, there.scores(), there.ids()));
        }));
        there.read(&resident);
        agree = agree && resident == by_host;
        times[2].push_back(time_call([&] { graph.launch(1); }));
        times[3].push_back(time_call([&] { graph.launch(kLaunches); }) / kLaunches);
        there.read(&resident);
        agree = agree && graph.is_finished() && resident == by_host;
      }
      std::printf("%6lld %9.3g %12.3f %12.3f %8.2f %12.3f %12.3f %8s\n", static_cast<long long>(nq),
                  static_cast<double>(exactness), median(times[0]), median(times[1]),
                  median(times[0]) / median(times[1]), median(times[2]), median(times[3]),
                  agree ? "yes" : "NO");
      std::fflush(stdout);
    }
  }
}

}  // namespace polarquant::bench
