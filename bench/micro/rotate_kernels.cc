// SPDX-License-Identifier: MIT
// Rotating one vector, as a query is.
#include <benchmark/benchmark.h>

#include "bench/micro/micro.h"
#include "src/codec/rotation.h"
#include "src/core/aligned_buffer.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant::micro {
namespace {

constexpr int kDims[] = {384, 768, 1000, 1536};

void rotate(benchmark::State& state, int dim, const RotationKernels& kernels) {
  Rotation rotation(RotationKind::hadamard, dim, 1);
  rotation.use_kernels(kernels);
  const std::vector<float> numbers = normal_numbers(dim, 1);
  AlignedVector<float> x(numbers.begin(), numbers.end());
  for (auto _ : state) {
    rotation.apply(x.data());
    benchmark::DoNotOptimize(x.data());
  }
  state.counters["vectors/s"] =
      benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}

void register_rows(const std::string& target, const RotationKernels& kernels) {
  for (const int dim : kDims) {
    benchmark::RegisterBenchmark(row_name("rotate/hadamard", target, dim).c_str(),
                                 [=](benchmark::State& state) { rotate(state, dim, kernels); });
  }
}

}  // namespace

void register_rotate_kernels() {
  for (const int64_t target : targets()) {
    const OnlyTarget only(target);
    register_rows(hwy::TargetName(target), simd_codec_kernels().rotation);
  }
  register_rows("plain", RotationKernels());
}

}  // namespace polarquant::micro
