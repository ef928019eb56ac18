// SPDX-License-Identifier: MIT
#include "bench/cuda/encoding.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/bench_check.h"
#include "bench/cuda/device_timer.h"
#include "cuda/device_buffer.h"

namespace polarquant::bench {
namespace {

/// The CPU is given a part, so that it does not take all the time.
constexpr int64_t kCpuRows = 1 << 16;
/// Enough for a basis; what rows cost in training is not measured.
constexpr int64_t kTrainingRows = 1 << 15;
constexpr int kTurns = 3;

}  // namespace

void print_encoding(const std::string& spec, int64_t rows, int dim,
                    const SyntheticRows& synthetic) {
  std::vector<float> x(static_cast<size_t>(rows) * static_cast<size_t>(dim));
  synthetic.fill(0, rows, x.data());
  polar_codec* made = nullptr;
  check(polar_codec_create(spec.c_str(), dim, POLAR_METRIC_INNER_PRODUCT, nullptr, &made));
  const std::unique_ptr<polar_codec, Deleter> codec(made);
  check(polar_codec_train(made, std::min(rows, kTrainingRows), x.data(), nullptr));
  polar_cuda_encoder* made_encoder = nullptr;
  check(polar_cuda_encoder_create(made, nullptr, &made_encoder));
  const std::unique_ptr<polar_cuda_encoder, Deleter> encoder(made_encoder);
  size_t bytes = 0;
  check(polar_codec_encoded_bytes(made, rows, &bytes));
  std::vector<uint8_t> codes(bytes);
  cuda::DeviceBuffer device_x;
  cuda::DeviceBuffer device_codes;
  device_x.need(x.size() * sizeof(float));
  device_codes.need(bytes);
  POLAR_CUDA_CHECK(
      cudaMemcpy(device_x.as<void>(), x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  const int64_t cpu_rows = std::min(rows, kCpuRows);
  size_t cpu_bytes = 0;
  check(polar_codec_encoded_bytes(made, cpu_rows, &cpu_bytes));
  std::vector<uint8_t> cpu_codes(cpu_bytes);

  std::vector<double> times[3];
  for (int turn = 0; turn < kTurns; ++turn) {
    times[0].push_back(time_call(
        [&] {
          check(polar_cuda_encoder_encode(encoder.get(), rows, device_x.as<float>(),
                                          device_codes.as<uint8_t>(), bytes, nullptr));
        },
        5));
    times[1].push_back(time_call(
        [&] {
          check(polar_cuda_encoder_encode(encoder.get(), rows, x.data(), codes.data(), bytes,
                                          nullptr));
        },
        1));
    times[2].push_back(time_call(
        [&] {
          check(polar_codec_encode(made, cpu_rows, x.data(), nullptr, cpu_codes.data(), cpu_bytes));
        },
        1));
  }
  std::vector<uint8_t> from_device(cpu_bytes);
  POLAR_CUDA_CHECK(
      cudaMemcpy(from_device.data(), device_codes.as<void>(), cpu_bytes, cudaMemcpyDeviceToHost));
  const bool same =
      from_device == cpu_codes && std::equal(cpu_codes.begin(), cpu_codes.end(), codes.begin());
  const auto millions = [](int64_t count, const std::vector<double>& ms) {
    return static_cast<double>(count) / median(ms) / 1e3;
  };
  std::printf("%-12s %8.2f %8.2f %8.3f   %s\n", spec.c_str(), millions(rows, times[0]),
              millions(rows, times[1]), millions(cpu_rows, times[2]),
              same ? "the same bytes" : "DIFFERENT bytes");
  std::fflush(stdout);
}

}  // namespace polarquant::bench
