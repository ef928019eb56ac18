// SPDX-License-Identifier: MIT
// Encoding and combining whole rows, one thread.
#include <benchmark/benchmark.h>

#include "bench/micro/micro.h"
#include "src/codec/codec.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant::micro {
namespace {

constexpr const char* kSpecs[] = {"Polar1", "Polar2", "Polar3", "Polar4", "Polar4+2"};
constexpr int kDims[] = {384, 1536};
constexpr int64_t kRows = 64;

void set_rate(benchmark::State& state) {
  state.counters["vectors/s"] =
      benchmark::Counter(static_cast<double>(kRows), benchmark::Counter::kIsIterationInvariantRate);
}

void encode_rows(benchmark::State& state, const char* spec, int dim, const CodecKernels& kernels) {
  const std::vector<float> rows = normal_numbers(kRows * dim, 1);
  Codec codec(parse_spec(spec), dim, Metric::inner_product, CodecOptions{});
  codec.use_kernels(kernels);
  codec.train(kRows, rows.data());
  std::vector<uint8_t> codes(codec.layout().bytes(kRows));
  for (auto _ : state) {
    codec.encode(kRows, rows.data(), codes.data(), 1);
    benchmark::DoNotOptimize(codes.data());
  }
  set_rate(state);
}

void combine_rows(benchmark::State& state, const char* spec, int dim, const CodecKernels& kernels) {
  const std::vector<float> rows = normal_numbers(kRows * dim, 1);
  Codec codec(parse_spec(spec), dim, Metric::inner_product, CodecOptions{});
  codec.use_kernels(kernels);
  codec.train(kRows, rows.data());
  std::vector<uint8_t> codes(codec.layout().bytes(kRows));
  codec.encode(kRows, rows.data(), codes.data(), 1);
  const std::vector<float> weights(kRows, 1.0F / kRows);
  std::vector<float> mean(static_cast<size_t>(dim));
  for (auto _ : state) {
    codec.combine({codes.data(), kRows}, weights.data(), mean.data());
    benchmark::DoNotOptimize(mean.data());
  }
  set_rate(state);
}

void register_rows(const std::string& target, const CodecKernels& kernels) {
  for (const char* spec : kSpecs) {
    for (const int dim : kDims) {
      benchmark::RegisterBenchmark(
          row_name(std::string("encode/") + spec, target, dim).c_str(),
          [=](benchmark::State& state) { encode_rows(state, spec, dim, kernels); });
      benchmark::RegisterBenchmark(
          row_name(std::string("combine/") + spec, target, dim).c_str(),
          [=](benchmark::State& state) { combine_rows(state, spec, dim, kernels); });
    }
  }
}

}  // namespace

void register_encode_kernels() {
  for (const int64_t target : targets()) {
    const OnlyTarget only(target);
    register_rows(hwy::TargetName(target), simd_codec_kernels());
  }
  register_rows("plain", CodecKernels());
}

}  // namespace polarquant::micro
