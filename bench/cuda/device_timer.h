// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <vector>

#include "bench/median.h"
#include "cuda/cuda_check.h"

namespace polarquant::bench {

inline constexpr int kTimedRuns = 15;

/// Milliseconds of device time of `body`, which puts work on the default stream: the median of
/// `runs`, after two that are not counted.
template <typename Body>
double time_device(const Body& body, int runs = kTimedRuns) {
  cudaEvent_t begin;
  cudaEvent_t end;
  POLAR_CUDA_CHECK(cudaEventCreate(&begin));
  POLAR_CUDA_CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int run = -2; run < runs; ++run) {
    POLAR_CUDA_CHECK(cudaEventRecord(begin));
    body();
    POLAR_CUDA_CHECK(cudaEventRecord(end));
    POLAR_CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    POLAR_CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (run >= 0) times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return median(times);
}

/// Milliseconds from call to return, by the host's clock; the body waits for the device itself.
template <typename Body>
double time_call(const Body& body, int runs = kTimedRuns) {
  std::vector<double> times;
  for (int run = -2; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (run >= 0) times.push_back(took.count());
  }
  return median(times);
}

}  // namespace polarquant::bench
