// SPDX-License-Identifier: MIT
#include "cuda/device_index.h"

#include <vector>

#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

/// x, −x, y, −y of a window.
uint32_t table_entry(int x, int y) {
  const auto byte = [](int value) { return static_cast<uint32_t>(static_cast<uint8_t>(value)); };
  return byte(x) | byte(-x) << 8 | byte(y) << 16 | byte(-y) << 24;
}

__global__ void __launch_bounds__(kThreads) largest_constant_kernel(CodeView code, int* largest) {
  float mine = 0;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; row < code.rows;
       row += static_cast<int64_t>(gridDim.x) * kThreads)
    mine = fmaxf(mine, fabsf(load_terms(code, row).constant));
  // Floats that are not negative sort like their bits.
  atomicMax(largest, __float_as_int(mine));
}

}  // namespace

DeviceIndex::DeviceIndex(int device, const CodeDescription& code, int64_t rows) : device_(device) {
  const CurrentDevice current(device);
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  int shared = 0;
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  shared_bytes_ = static_cast<size_t>(shared);
  describe(code, rows);
  const auto blocks = static_cast<size_t>(view_.blocks());
  sketches_.need(blocks * view_.sketch_bytes() + kReadAhead);
  payloads_.need(blocks * kBlockRows * view_.payload_bytes + kReadAhead);
  view_.sketches = sketches_.as<uint8_t>();
  view_.payloads = payloads_.as<uint8_t>();
  upload_tables(code);
}

void DeviceIndex::describe(const CodeDescription& code, int64_t rows) {
  view_.rows = rows;
  view_.dim = code.dim;
  view_.segments = (code.dim + kSegmentDims - 1) / kSegmentDims;
  const int last = code.dim - (view_.segments - 1) * kSegmentDims;
  view_.pairs = (view_.segments - 1) * (kSegmentDims / 2) + (last + 1) / 2;
  view_.sign_words = code.sign_words;
  view_.sketch_words = code.sketch_words;
  view_.payload_bytes = code.payload_bytes;
  view_.factor_form = code.factor_form;
  view_.scale_unit = code.scale_unit;
  view_.bias_unit = code.bias_unit;
  view_.is_l2 = code.is_l2;
  view_.stages = code.stages;
  view_.residual_gain = code.residual_gain;
  for (int s = 0; s < code.stages; ++s) {
    const StageDescription& stage = code.stage[s];
    view_.stage[s] = {stage.kind, stage.signs, stage.step_bits, stage.signs_offset,
                      stage.codes_offset};
  }
}

void DeviceIndex::upload_tables(const CodeDescription& code) {
  std::vector<uint32_t> tables;
  std::vector<float2> cells;
  for (int s = 0; s < code.stages; ++s) {
    const StageDescription& stage = code.stage[s];
    // Magnitudes of both coordinates are looked up as x.
    for (int i = 0; i < 256; ++i) tables.push_back(table_entry(stage.value_x[i], stage.value_y[i]));
    for (int i = 0; i < 256; ++i) cells.push_back({stage.cell_x[i], stage.cell_y[i]});
  }
  tables_.need(tables.size() * sizeof(uint32_t));
  cells_.need(cells.size() * sizeof(float2));
  POLAR_CUDA_CHECK(cudaMemcpy(tables_.as<void>(), tables.data(), tables.size() * sizeof(uint32_t),
                              cudaMemcpyHostToDevice));
  POLAR_CUDA_CHECK(cudaMemcpy(cells_.as<void>(), cells.data(), cells.size() * sizeof(float2),
                              cudaMemcpyHostToDevice));
  view_.tables = tables_.as<uint32_t>();
  view_.cells = cells_.as<float2>();
}

void DeviceIndex::write_blocks(int64_t first_block, int64_t blocks, const void* sketches,
                               const void* payloads) {
  const CurrentDevice current(device_);
  const size_t sketch_bytes = view_.sketch_bytes();
  const size_t payload_bytes = size_t{kBlockRows} * view_.payload_bytes;
  const auto first = static_cast<size_t>(first_block);
  const auto count = static_cast<size_t>(blocks);
  POLAR_CUDA_CHECK(cudaMemcpy(sketches_.as<uint8_t>() + first * sketch_bytes, sketches,
                              count * sketch_bytes, cudaMemcpyHostToDevice));
  if (payload_bytes == 0) return;
  POLAR_CUDA_CHECK(cudaMemcpy(payloads_.as<uint8_t>() + first * payload_bytes, payloads,
                              count * payload_bytes, cudaMemcpyHostToDevice));
}

void DeviceIndex::set_lists(const ListsDescription& lists) {
  const CurrentDevice current(device_);
  lists_ = std::make_unique<DeviceLists>(lists, view_.dim, view_.blocks());
}

void DeviceIndex::finish() {
  const CurrentDevice current(device_);
  // The bytes that kernels read ahead.
  POLAR_CUDA_CHECK(
      cudaMemset(sketches_.as<uint8_t>() + sketches_.bytes() - kReadAhead, 0, kReadAhead));
  POLAR_CUDA_CHECK(
      cudaMemset(payloads_.as<uint8_t>() + payloads_.bytes() - kReadAhead, 0, kReadAhead));
  DeviceBuffer largest;
  largest.need(sizeof(int));
  POLAR_CUDA_CHECK(cudaMemset(largest.as<void>(), 0, sizeof(int)));
  largest_constant_kernel<<<multiprocessors_ * 8, kThreads>>>(view_, largest.as<int>());
  POLAR_CUDA_CHECK_LAUNCH(largest_constant_kernel);
  POLAR_CUDA_CHECK(cudaMemcpy(&view_.largest_constant, largest.as<void>(), sizeof(float),
                              cudaMemcpyDeviceToHost));
}

size_t DeviceIndex::memory_bytes() const {
  return sketches_.bytes() + payloads_.bytes() + tables_.bytes() + cells_.bytes() +
         (lists_ != nullptr ? lists_->memory_bytes() : 0) + workspaces_.idle_bytes();
}

}  // namespace polarquant::cuda
