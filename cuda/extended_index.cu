// SPDX-License-Identifier: MIT
// An index made of another one on its device: blocks that this has stay where they are, or go to
// new places by a copy within the device's memory, and others are put beside them.
#include <algorithm>

#include "cuda/device_index.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// Spare memory for one block of so many, where rows have to move: many small adds then cost
/// little.
constexpr int64_t kSpareShare = 4;

/// Copies blocks of `bytes` bytes, a multiple of 64, a warp a block: block i is block `sources`[i]
/// of `from`, −1 for one that stays as it is, or i without sources; it becomes block `numbers`[i],
/// or i. Either may be null.
__global__ void __launch_bounds__(kThreads)
    copy_blocks_kernel(uint8_t* to, const uint8_t* from, int64_t blocks, const int64_t* sources,
                       const int64_t* numbers, size_t bytes) {
  const auto lane = threadIdx.x % 32;
  const auto pieces = bytes / sizeof(uint4);
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32; i < blocks;
       i += static_cast<int64_t>(gridDim.x) * kWarps) {
    const int64_t source = sources != nullptr ? sources[i] : i;
    if (source < 0) continue;
    const int64_t number = numbers != nullptr ? numbers[i] : i;
    const auto* read = reinterpret_cast<const uint4*>(from + static_cast<size_t>(source) * bytes);
    auto* write = reinterpret_cast<uint4*>(to + static_cast<size_t>(number) * bytes);
    for (size_t piece = lane; piece < pieces; piece += 32) write[piece] = read[piece];
  }
}

void copy_blocks(int multiprocessors, uint8_t* to, const uint8_t* from, int64_t blocks,
                 const int64_t* sources, const int64_t* numbers, size_t bytes) {
  if (blocks == 0 || bytes == 0) return;
  const int64_t wanted = (blocks + kWarps - 1) / kWarps;
  const auto grid = static_cast<unsigned>(std::min<int64_t>(wanted, multiprocessors * 16));
  copy_blocks_kernel<<<grid, kThreads>>>(to, from, blocks, sources, numbers, bytes);
  POLAR_CUDA_CHECK_LAUNCH(copy_blocks_kernel);
}

/// As many bytes and a share of them more, or, where that is not to be had, as many.
void need_with_spare(DeviceBuffer* buffer, size_t bytes, size_t spare) {
  try {
    buffer->need(bytes + spare);
  } catch (const DeviceError& error) {
    if (error.status() != StatusCode::out_of_memory) throw;
    buffer->need(bytes);
  }
}

}  // namespace

DeviceIndex::DeviceIndex(const DeviceIndex& from, int64_t rows, const int64_t* sources)
    : device_(from.device_),
      multiprocessors_(from.multiprocessors_),
      shared_bytes_(from.shared_bytes_),
      view_(from.view_),
      tables_(from.tables_),
      queries_(from.queries_),
      workspaces_(from.workspaces_) {
  const CurrentDevice current(device_);
  view_.rows = rows;
  if (sources == nullptr) {
    if (rows < from.view_.rows)
      throw DeviceError(StatusCode::internal, "an index is extended to fewer rows");
    measured_rows_ = from.view_.rows;
    stay_or_move(from);
    return;
  }
  auto blocks = std::make_shared<BlockMemory>();
  blocks->sketches.need(sketches_bytes() + kReadAhead);
  blocks->payloads.need(payloads_bytes() + kReadAhead);
  use(std::move(blocks));
  const auto count = static_cast<size_t>(view_.blocks());
  const WorkspaceLease lease(*workspaces_, nullptr);
  DeviceBuffer& memory = (*lease).device;
  memory.need(count * sizeof(int64_t) + 1);
  auto* there = memory.as<int64_t>();
  POLAR_CUDA_CHECK(cudaMemcpy(there, sources, count * sizeof(int64_t), cudaMemcpyHostToDevice));
  copy_blocks(multiprocessors_, blocks_->sketches.as<uint8_t>(), from.view_.sketches,
              view_.blocks(), there, nullptr, view_.sketch_bytes());
  copy_blocks(multiprocessors_, blocks_->payloads.as<uint8_t>(), from.view_.payloads,
              view_.blocks(), there, nullptr, size_t{kBlockRows} * view_.payload_bytes);
}

void DeviceIndex::stay_or_move(const DeviceIndex& from) {
  const std::shared_ptr<BlockMemory>& before = from.blocks_;
  const bool fits = before->sketches.bytes() >= sketches_bytes() + kReadAhead &&
                    before->payloads.bytes() >= payloads_bytes() + kReadAhead;
  // Where another index was extended from it, its rows come after these.
  if (fits && before->rows == from.view_.rows) return use(before);
  auto blocks = std::make_shared<BlockMemory>();
  const auto spare = static_cast<size_t>(view_.blocks() / kSpareShare);
  need_with_spare(&blocks->sketches, sketches_bytes() + kReadAhead, spare * view_.sketch_bytes());
  need_with_spare(&blocks->payloads, payloads_bytes() + kReadAhead,
                  spare * kBlockRows * view_.payload_bytes);
  use(std::move(blocks));
  POLAR_CUDA_CHECK(cudaMemcpyAsync(blocks_->sketches.as<void>(), from.view_.sketches,
                                   from.sketches_bytes(), cudaMemcpyDeviceToDevice));
  if (from.payloads_bytes() > 0)
    POLAR_CUDA_CHECK(cudaMemcpyAsync(blocks_->payloads.as<void>(), from.view_.payloads,
                                     from.payloads_bytes(), cudaMemcpyDeviceToDevice));
}

void DeviceIndex::put_blocks(int64_t blocks, const int64_t* numbers, const void* sketches,
                             const void* payloads) {
  const CurrentDevice current(device_);
  const WorkspaceLease lease(*workspaces_, nullptr);
  const size_t sketch_bytes = view_.sketch_bytes();
  const size_t payload_bytes = size_t{kBlockRows} * view_.payload_bytes;
  const auto count = static_cast<size_t>(blocks);
  int64_t* there = nullptr;
  uint8_t* staged_sketches = nullptr;
  uint8_t* staged_payloads = nullptr;
  const auto carve = [&](void* base) {
    Carver carver(base);
    there = carver.take<int64_t>(count);
    staged_sketches = carver.take<uint8_t>(count * sketch_bytes);
    staged_payloads = carver.take<uint8_t>(count * payload_bytes);
    return carver.used();
  };
  DeviceBuffer& memory = (*lease).device;
  memory.need(carve(nullptr));
  carve(memory.as<void>());
  const auto upload = [](void* to, const void* from, size_t bytes) {
    if (bytes > 0) POLAR_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  };
  upload(there, numbers, count * sizeof(int64_t));
  upload(staged_sketches, sketches, count * sketch_bytes);
  upload(staged_payloads, payloads, count * payload_bytes);
  copy_blocks(multiprocessors_, blocks_->sketches.as<uint8_t>(), staged_sketches, blocks, nullptr,
              there, sketch_bytes);
  copy_blocks(multiprocessors_, blocks_->payloads.as<uint8_t>(), staged_payloads, blocks, nullptr,
              there, payload_bytes);
}

}  // namespace polarquant::cuda
