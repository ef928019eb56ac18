// SPDX-License-Identifier: MIT
#include "bench/cuda/roofs.h"

#include <cublas_v2.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/cuda/device_timer.h"
#include "cuda/device_buffer.h"
#include "cuda/sketch_scan.h"

namespace polarquant::bench {
namespace {

using cuda::DeviceBuffer;

constexpr size_t kCopyBytes = size_t{4} << 30;
constexpr int kSquare = 8192;
constexpr int kThreads = 256;

__global__ void fill_random(uint32_t* to, int64_t words, uint32_t mask, uint32_t seed) {
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < words;
       i += static_cast<int64_t>(gridDim.x) * kThreads) {
    auto x = static_cast<uint32_t>(i) * 2654435761U + seed;
    x ^= x >> 15;
    x *= 2246822519U;
    x ^= x >> 13;
    to[i] = x & mask;
  }
}

void fill(const DeviceBuffer& buffer, uint32_t mask) {
  fill_random<<<4096, kThreads>>>(buffer.as<uint32_t>(), static_cast<int64_t>(buffer.bytes() / 4),
                                  mask, 12345);
  POLAR_CUDA_CHECK_LAUNCH(fill_random);
}

/// `mask` leaves numbers that are neither infinite nor NaN.
double gemm_peak(cudaDataType in, cudaDataType out, cublasComputeType_t compute, size_t in_bytes,
                 size_t out_bytes, uint32_t mask) {
  const auto count = static_cast<size_t>(kSquare) * kSquare;
  DeviceBuffer a;
  DeviceBuffer b;
  DeviceBuffer c;
  a.need(count * in_bytes);
  b.need(count * in_bytes);
  c.need(count * out_bytes);
  fill(a, mask);
  fill(b, mask);
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cublasCreate");
  const int32_t one_int = 1;
  const int32_t zero_int = 0;
  const float one = 1;
  const float zero = 0;
  const bool integers = compute == CUBLAS_COMPUTE_32I;
  const double ms = time_device([&] {
    const cublasStatus_t status = cublasGemmEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, kSquare, kSquare, kSquare,
        integers ? static_cast<const void*>(&one_int) : &one, a.as<void>(), in, kSquare,
        b.as<void>(), in, kSquare, integers ? static_cast<const void*>(&zero_int) : &zero,
        c.as<void>(), out, kSquare, compute, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cublasGemmEx: ") + cublasGetStatusString(status));
  });
  cublasDestroy(handle);
  return 2.0 * kSquare * kSquare * kSquare / ms / 1e9;
}

}  // namespace

double copy_bandwidth() {
  DeviceBuffer from;
  DeviceBuffer to;
  from.need(kCopyBytes);
  to.need(kCopyBytes);
  fill(from, ~0U);
  const double ms = time_device([&] {
    POLAR_CUDA_CHECK(
        cudaMemcpyAsync(to.as<void>(), from.as<void>(), kCopyBytes, cudaMemcpyDeviceToDevice));
  });
  return 2.0 * static_cast<double>(kCopyBytes) / ms / 1e6;
}

double bf16_peak() {
  // Exponents from 0 to 63 below 1: random mantissas and signs.
  return gemm_peak(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2, 0xbfffbfffU);
}
double int8_peak() { return gemm_peak(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 4, ~0U); }

double sketch_scan_bandwidth(long rows, int queries) {
  cuda::CodeView code = {};
  code.rows = rows / cuda::kBlockRows * cuda::kBlockRows;
  code.dim = 768;
  code.segments = 12;
  code.sign_words = 12;
  code.sketch_words = 4;
  code.factor_form = cuda::FactorForm::wide16;
  code.scale_unit = 1;
  code.bias_unit = 1;
  DeviceBuffer sketches;
  sketches.need(static_cast<size_t>(code.blocks()) * code.sketch_bytes() + cuda::kReadAhead);
  fill(sketches, 0xbbffbbffU);  // any bytes are finite factors
  code.sketches = sketches.as<uint8_t>();
  int device = 0;
  int multiprocessors = 0;
  POLAR_CUDA_CHECK(cudaGetDevice(&device));
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  std::vector<cuda::QueryConstants> constants(static_cast<size_t>(queries));
  for (cuda::QueryConstants& query : constants) {
    query = {};
    query.weight = 1;
    query.sketch_slope = 1e-3F;
    for (int w = 0; w < 4; ++w) {
      query.sign_words[w] = 0x9e3779b97f4a7c15U * static_cast<uint64_t>(w + 1);
      query.ones_words[w] = 0xc2b2ae3d27d4eb4fU * static_cast<uint64_t>(w + 1);
      query.twos_words[w] = 0x165667b19e3779f9U * static_cast<uint64_t>(w + 1);
    }
  }
  DeviceBuffer on_device;
  on_device.need(constants.size() * sizeof(cuda::QueryConstants));
  POLAR_CUDA_CHECK(cudaMemcpy(on_device.as<void>(), constants.data(), on_device.bytes(),
                              cudaMemcpyHostToDevice));
  DeviceBuffer lists;
  const auto warps = static_cast<size_t>(cuda::sketch_scan_warps(multiprocessors));
  const auto nq = static_cast<size_t>(queries);
  lists.need(nq * (warps + 1025) * sizeof(cuda::Ranked) + nq * sizeof(uint32_t));
  auto* entries = lists.as<cuda::Ranked>();
  cuda::Ranked* promising = entries + nq * 1024;
  cuda::Ranked* thresholds = promising + nq * warps;
  auto* counts = reinterpret_cast<uint32_t*>(thresholds + nq);
  POLAR_CUDA_CHECK(cudaMemset(thresholds, 0xff, nq * sizeof(cuda::Ranked)));  // NaN: none reaches
  POLAR_CUDA_CHECK(cudaMemset(counts, 0, nq * sizeof(uint32_t)));
  cuda::QueryView view = {};
  view.nq = queries;
  view.constants = on_device.as<cuda::QueryConstants>();
  const double ms = time_device([&] {
    cuda::sketch_scan(code, view, 0, queries, {nullptr, code.rows}, {code.blocks(), 1}, thresholds,
                      {entries, counts, 1024}, promising, multiprocessors, nullptr);
  });
  return static_cast<double>(code.blocks()) * code.sketch_bytes() / ms / 1e6;
}

}  // namespace polarquant::bench
