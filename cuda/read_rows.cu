// SPDX-License-Identifier: MIT
// Rows of an index, from anywhere in it, side by side as rows of blocks: for the host, or as
// another index.
#include "cuda/cuda_check.h"
#include "cuda/device_index.h"
#include "cuda/row_key.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

/// A warp a row.
__global__ void __launch_bounds__(kThreads)
    read_rows_kernel(CodeView code, int64_t n, const int64_t* rows, uint8_t* sketches,
                     uint8_t* payloads) {
  const int lane = threadIdx.x % 32;
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (at >= n) return;
  const int64_t row = rows[at];
  CodeView out = code;
  out.sketches = sketches;
  out.payloads = payloads;
  const RowBytes from = row_bytes(code, row);
  const RowBytes to = row_bytes(out, at);
  const auto copy = [&](const uint8_t* source, const uint8_t* place, uint32_t bytes) {
    for (uint32_t i = lane; i < bytes; i += 32) const_cast<uint8_t*>(place)[i] = source[i];
  };
  for (int w = 0; w < code.sketch_words; ++w) copy(from.sketch + 64 * w, to.sketch + 64 * w, 8);
  const uint32_t factors = kBlockRows * 8U * static_cast<uint32_t>(code.sketch_words);
  const uint32_t bytes = code.factor_bytes();
  copy(block_sketch(code, row / kBlockRows) + factors + row % kBlockRows * bytes,
       block_sketch(out, at / kBlockRows) + factors + at % kBlockRows * bytes, bytes);
  copy(from.payload, to.payload, code.payload_bytes);
}

/// `rows`, (n), are on the device. The last block may have places without a row.
void copy_side_by_side(const CodeView& code, int64_t n, const int64_t* rows, uint8_t* sketches,
                       uint8_t* payloads, cudaStream_t stream) {
  const int64_t blocks = (n + kBlockRows - 1) / kBlockRows;
  POLAR_CUDA_CHECK(
      cudaMemsetAsync(sketches, 0, static_cast<size_t>(blocks) * code.sketch_bytes(), stream));
  read_rows_kernel<<<static_cast<unsigned>((n * 32 + kThreads - 1) / kThreads), kThreads, 0,
                     stream>>>(code, n, rows, sketches, payloads);
  POLAR_CUDA_CHECK_LAUNCH(read_rows_kernel);
}

}  // namespace

void DeviceIndex::read_rows(int64_t n, const int64_t* rows, void* sketches, void* payloads) const {
  if (n == 0) return;
  const CurrentDevice current(device_);
  const auto blocks = static_cast<size_t>((n + kBlockRows - 1) / kBlockRows);
  const size_t sketch_bytes = blocks * view_.sketch_bytes();
  const size_t payload_bytes = static_cast<size_t>(n) * view_.payload_bytes;
  const cudaStream_t stream = cudaStreamPerThread;
  const WorkspaceLease lease(*workspaces_, stream);
  Workspace& workspace = *lease;
  const auto carve = [&](void* base) {
    Carver carver(base);
    auto* numbers = carver.take<int64_t>(static_cast<size_t>(n));
    auto* to_sketches = carver.take<uint8_t>(sketch_bytes);
    auto* to_payloads = carver.take<uint8_t>(payload_bytes);
    if (base == nullptr) return carver.used();
    POLAR_CUDA_CHECK(cudaMemcpyAsync(numbers, rows, static_cast<size_t>(n) * sizeof(int64_t),
                                     cudaMemcpyHostToDevice, stream));
    copy_side_by_side(view_, n, numbers, to_sketches, to_payloads, stream);
    POLAR_CUDA_CHECK(
        cudaMemcpyAsync(sketches, to_sketches, sketch_bytes, cudaMemcpyDeviceToHost, stream));
    if (payload_bytes > 0)
      POLAR_CUDA_CHECK(
          cudaMemcpyAsync(payloads, to_payloads, payload_bytes, cudaMemcpyDeviceToHost, stream));
    POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
    return carver.used();
  };
  workspace.device.need(carve(nullptr));
  carve(workspace.device.as<void>());
}

void DeviceIndex::copy_rows(const DeviceIndex& from, const int64_t* rows) {
  if (view_.rows == 0) return;
  const CurrentDevice current(device_);
  const cudaStream_t stream = cudaStreamPerThread;
  const size_t bytes = static_cast<size_t>(view_.rows) * sizeof(int64_t);
  DeviceBuffer numbers;
  numbers.need(bytes);
  POLAR_CUDA_CHECK(
      cudaMemcpyAsync(numbers.as<void>(), rows, bytes, cudaMemcpyHostToDevice, stream));
  copy_side_by_side(from.view_, view_.rows, numbers.as<int64_t>(), blocks_->sketches.as<uint8_t>(),
                    blocks_->payloads.as<uint8_t>(), stream);
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace polarquant::cuda
