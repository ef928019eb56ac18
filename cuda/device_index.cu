// SPDX-License-Identifier: MIT
#include "cuda/device_index.h"

#include <utility>
#include <vector>

#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

/// x, −x, y, −y of a window.
uint32_t table_entry(int x, int y) {
  const auto byte = [](int value) { return static_cast<uint32_t>(static_cast<uint8_t>(value)); };
  return byte(x) | byte(-x) << 8 | byte(y) << 16 | byte(-y) << 24;
}

__global__ void __launch_bounds__(kThreads)
    largest_constant_kernel(CodeView code, int64_t first, int* largest) {
  float mine = 0;
  for (int64_t row = first + static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       row < code.rows; row += static_cast<int64_t>(gridDim.x) * kThreads)
    mine = fmaxf(mine, fabsf(load_terms(code, row).constant));
  // Floats that are not negative sort like their bits.
  atomicMax(largest, __float_as_int(mine));
}

/// The largest Σ value² of each stage of a trained code, a warp a row.
__global__ void __launch_bounds__(kThreads)
    largest_squared_norms_kernel(CodeView code, int64_t first, int* largest) {
  const int lane = threadIdx.x % 32;
  int most[kMaxStages] = {0, 0};
  for (int64_t row = first + (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
       row < code.rows; row += static_cast<int64_t>(gridDim.x) * (kThreads / 32)) {
    int own[kMaxStages] = {0, 0};
    for (int group8 = lane; group8 < code.coded_segments * kGroupsPerSegment; group8 += 32) {
      const int segment = group8 / kGroupsPerSegment;
      const SegmentView& view = code.plan[segment];
      uint32_t words[4];
      decode_trained_group8(view,
                            load_trained_group8(code, view, row_bytes(code, row), segment,
                                                group8 % kGroupsPerSegment),
                            code.tables, words);
      const int stage = code.stage_of(segment);
      if (stage == 0) {
        own[0] = add_squares(words, own[0]);
      } else {
        own[1] = add_squares(words, own[1]);
      }
    }
#pragma unroll
    for (int s = 0; s < kMaxStages; ++s) {
      const auto sum = __reduce_add_sync(~0U, static_cast<unsigned>(own[s]));
      most[s] = max(most[s], static_cast<int>(sum));
    }
  }
  if (lane != 0) return;
  for (int s = 0; s < kMaxStages; ++s) atomicMax(largest + s, most[s]);
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
  auto blocks = std::make_shared<BlockMemory>();
  blocks->sketches.need(sketches_bytes() + kReadAhead);
  blocks->payloads.need(payloads_bytes() + kReadAhead);
  use(std::move(blocks));
  upload_tables(code);
  if (code.plan.parts > 0) upload_plan(code.plan);
}

size_t DeviceIndex::sketches_bytes() const {
  return static_cast<size_t>(view_.blocks()) * view_.sketch_bytes();
}

size_t DeviceIndex::payloads_bytes() const {
  return static_cast<size_t>(view_.blocks()) * kBlockRows * view_.payload_bytes;
}

void DeviceIndex::use(std::shared_ptr<BlockMemory> blocks) {
  blocks_ = std::move(blocks);
  view_.sketches = blocks_->sketches.as<uint8_t>();
  view_.payloads = blocks_->payloads.as<uint8_t>();
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
  view_.table_count = code.plan.parts > 0 ? code.plan.parts : code.stages;
  if (code.plan.parts > 0) return;
  for (int s = 0; s < code.stages; ++s) {
    const StageDescription& stage = code.stage[s];
    view_.stage[s] = {stage.kind, stage.signs, stage.step_bits, stage.signs_offset,
                      stage.codes_offset};
  }
}

void DeviceIndex::upload_tables(const CodeDescription& code) {
  std::vector<uint32_t> tables;
  std::vector<float2> cells;
  for (int s = 0; s < view_.table_count; ++s) {
    const StageDescription& stage = code.plan.parts > 0 ? code.plan.part[s].codes : code.stage[s];
    // Magnitudes of both coordinates are looked up as x.
    for (int i = 0; i < 256; ++i) tables.push_back(table_entry(stage.value_x[i], stage.value_y[i]));
    for (int i = 0; i < 256; ++i) cells.push_back({stage.cell_x[i], stage.cell_y[i]});
  }
  tables_->tables.need(tables.size() * sizeof(uint32_t));
  tables_->cells.need(cells.size() * sizeof(float2));
  POLAR_CUDA_CHECK(cudaMemcpy(tables_->tables.as<void>(), tables.data(),
                              tables.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
  POLAR_CUDA_CHECK(cudaMemcpy(tables_->cells.as<void>(), cells.data(),
                              cells.size() * sizeof(float2), cudaMemcpyHostToDevice));
  view_.tables = tables_->tables.as<uint32_t>();
  view_.cells = tables_->cells.as<float2>();
}

void DeviceIndex::upload_plan(const PlanDescription& plan) {
  std::vector<SegmentView> segments(static_cast<size_t>(view_.segments));
  view_.has_aligned_parts = 1;
  for (int p = 0; p < plan.parts; ++p) {
    const PartDescription& part = plan.part[p];
    const StageDescription& codes = part.codes;
    const bool has_fields = codes.kind == CodeKind::magnitudes;
    const int part_segments = (part.dim + kSegmentDims - 1) / kSegmentDims;
    const int last = part.dim - (part_segments - 1) * kSegmentDims;
    for (int i = 0; i < part_segments; ++i) {
      SegmentView& segment = segments[static_cast<size_t>(part.first_segment + i)];
      segment.stage = {codes.kind, codes.signs, codes.step_bits, 0, codes.codes_offset};
      if (has_fields)
        segment.stage.codes_offset += static_cast<uint32_t>(i * kSegmentDims / 8 * codes.step_bits);
      segment.group8 = has_fields ? 0 : i * kGroupsPerSegment;
      segment.pairs = (part_segments - 1) * (kSegmentDims / 2) + (last + 1) / 2;
      segment.count = i + 1 < part_segments ? kSegmentDims : last;
      segment.table = p;
      segment.scale = plan.scales[part.first_segment + i];
    }
    view_.part[p] = {part.first_segment, part_segments, has_fields ? codes.step_bits : 8,
                     part_segments * (has_fields ? 2 : 1)};
    view_.coded_segments = part.first_segment + part_segments;
    view_.coded_dims = part.first_segment * kSegmentDims + part.dim;
    if (codes.codes_offset % 4 != 0) view_.has_aligned_parts = 0;
  }
  view_.second_stage = plan.second_stage;
  view_.first_stage_words = plan.first_stage_words;
  view_.has_third_bit = plan.has_third_bit;
  tables_->plan.need(segments.size() * sizeof(SegmentView));
  POLAR_CUDA_CHECK(cudaMemcpy(tables_->plan.as<void>(), segments.data(),
                              segments.size() * sizeof(SegmentView), cudaMemcpyHostToDevice));
  view_.plan = tables_->plan.as<SegmentView>();
}

void DeviceIndex::write_blocks(int64_t first_block, int64_t blocks, const void* sketches,
                               const void* payloads) {
  const CurrentDevice current(device_);
  const size_t sketch_bytes = view_.sketch_bytes();
  const size_t payload_bytes = size_t{kBlockRows} * view_.payload_bytes;
  const auto first = static_cast<size_t>(first_block);
  const auto count = static_cast<size_t>(blocks);
  POLAR_CUDA_CHECK(cudaMemcpy(blocks_->sketches.as<uint8_t>() + first * sketch_bytes, sketches,
                              count * sketch_bytes, cudaMemcpyHostToDevice));
  if (payload_bytes == 0) return;
  POLAR_CUDA_CHECK(cudaMemcpy(blocks_->payloads.as<uint8_t>() + first * payload_bytes, payloads,
                              count * payload_bytes, cudaMemcpyHostToDevice));
}

void DeviceIndex::set_lists(const ListsDescription& lists) {
  const CurrentDevice current(device_);
  lists_ = std::make_unique<DeviceLists>(lists, view_.dim, view_.blocks());
}

void DeviceIndex::set_queries(const QueryDescription& queries) {
  const CurrentDevice current(device_);
  queries_ = std::make_shared<const QueryPreparation>(queries, view_);
}

void DeviceIndex::finish() {
  const CurrentDevice current(device_);
  // The bytes that kernels read ahead.
  POLAR_CUDA_CHECK(cudaMemset(blocks_->sketches.as<uint8_t>() + sketches_bytes(), 0, kReadAhead));
  POLAR_CUDA_CHECK(cudaMemset(blocks_->payloads.as<uint8_t>() + payloads_bytes(), 0, kReadAhead));
  DeviceBuffer largest;
  largest.need(sizeof(float));
  POLAR_CUDA_CHECK(cudaMemcpy(largest.as<void>(), &view_.largest_constant, sizeof(float),
                              cudaMemcpyHostToDevice));
  largest_constant_kernel<<<multiprocessors_ * 8, kThreads>>>(view_, measured_rows_,
                                                              largest.as<int>());
  POLAR_CUDA_CHECK_LAUNCH(largest_constant_kernel);
  POLAR_CUDA_CHECK(cudaMemcpy(&view_.largest_constant, largest.as<void>(), sizeof(float),
                              cudaMemcpyDeviceToHost));
  if (view_.is_trained()) measure_squared_norms();
  blocks_->rows = view_.rows;
}

void DeviceIndex::measure_squared_norms() {
  int found[kMaxStages];
  for (int s = 0; s < kMaxStages; ++s) found[s] = static_cast<int>(view_.largest_squared_norm[s]);
  DeviceBuffer largest;
  largest.need(sizeof found);
  POLAR_CUDA_CHECK(cudaMemcpy(largest.as<void>(), found, sizeof found, cudaMemcpyHostToDevice));
  largest_squared_norms_kernel<<<multiprocessors_ * 8, kThreads>>>(view_, measured_rows_,
                                                                   largest.as<int>());
  POLAR_CUDA_CHECK_LAUNCH(largest_squared_norms_kernel);
  POLAR_CUDA_CHECK(cudaMemcpy(found, largest.as<void>(), sizeof found, cudaMemcpyDeviceToHost));
  for (int s = 0; s < kMaxStages; ++s) view_.largest_squared_norm[s] = static_cast<float>(found[s]);
}

size_t DeviceIndex::memory_bytes() const {
  return blocks_->sketches.bytes() + blocks_->payloads.bytes() + tables_->bytes() +
         (lists_ != nullptr ? lists_->memory_bytes() : 0) +
         (queries_ != nullptr ? queries_->memory_bytes() : 0) + workspaces_->idle_bytes();
}

}  // namespace polarquant::cuda
