// SPDX-License-Identifier: MIT
#include "cuda/device_encoder.h"

#include <algorithm>
#include <string>

#include "cuda/basis_product.h"
#include "cuda/cuda_check.h"
#include "cuda/device_memory.h"
#include "cuda/directions.h"
#include "cuda/magnitude_encode.h"
#include "cuda/trellis_encode.h"

namespace polarquant::cuda {
namespace {

/// Rows that are coded at a time: several times as many as a device works on at once.
constexpr int64_t kRowsAtOnce = 65536;

}  // namespace

DeviceEncoder::DeviceEncoder(int device, const EncoderDescription& given) : device_(device) {
  const CurrentDevice current(device);
  int shared = 0;
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  shared_bytes_ = static_cast<size_t>(shared);
  describe(given);
  describe_parts(given);
  view_.rotation = view_of(given.rotation, given.dim, coded_dims_);
  require_short_rows();
  view_.rotation = rotation_.emplace(given.rotation, given.dim, coded_dims_).view();
  upload(given);
}

void DeviceEncoder::describe(const EncoderDescription& given) {
  view_.dim = given.dim;
  view_.code_bytes = given.code_bytes;
  view_.row_bytes = given.code_bytes + (given.factor_form == FactorForm::float32 ? 8 : 4);
  view_.is_l2 = given.is_l2;
  view_.is_cosine = given.is_cosine;
  view_.factor_form = given.factor_form;
  view_.scale_unit = given.scale_unit;
  view_.bias_unit = given.bias_unit;
  view_.min_scale = given.min_scale;
  view_.max_scale = given.max_scale;
  view_.root_dim = given.root_dim;
  view_.shortest = given.shortest;
  view_.longest = given.longest;
  view_.nearly_centre2 = given.nearly_centre2;
  view_.least_alignment = given.least_alignment;
}

void DeviceEncoder::describe_parts(const EncoderDescription& given) {
  uint32_t bytes = 0;
  for (int p = 0; p < given.parts; ++p) {
    const EncoderPart& from = given.part[p];
    EncodePart& part = parts_.emplace_back();
    part.kind = from.kind;
    part.step_bits = from.step_bits;
    part.has_signs = from.has_signs;
    part.first = from.first;
    part.dim = from.dim;
    part.pairs = (from.dim + 1) / 2;
    part.sign_bytes = from.has_signs != 0 ? static_cast<uint32_t>(from.dim + 7) / 8 : 0;
    part.signs_offset = from.signs_offset;
    part.codes_offset = from.codes_offset;
    part.is_first = p == 0 ? 1 : 0;
    part.is_last = p + 1 == given.parts ? 1 : 0;
    const int fields = from.kind == CodeKind::magnitudes ? part.dim : part.pairs;
    bytes += part.sign_bytes + static_cast<uint32_t>(fields * from.step_bits + 7) / 8;
    coded_dims_ = from.first + from.dim;
  }
  writes_all_bytes_ = bytes == view_.code_bytes;
}

void DeviceEncoder::require_short_rows() const {
  bool is_short = direction_shared_bytes(view_) <= shared_bytes_;
  for (const EncodePart& part : parts_)
    is_short = is_short &&
               (part.kind == CodeKind::magnitudes || trellis_shared_bytes(part, shared_bytes_) > 0);
  if (!is_short)
    throw DeviceError(StatusCode::unsupported, "rows of " + std::to_string(view_.dim) +
                                                   " dimensions are too long to be encoded there");
}

void DeviceEncoder::upload(const EncoderDescription& given) {
  const auto dim = static_cast<size_t>(given.dim);
  const size_t scales = given.scales != nullptr ? (dim + kSegmentDims - 1) / kSegmentDims : 0;
  const auto carve = [&](Carver carver) {
    view_.centre = upload_place<float>(&carver, dim, given.centre);
    view_.scales = upload_place<float>(&carver, scales, given.scales);
    for (size_t p = 0; p < parts_.size(); ++p) {
      parts_[p].cell_x = upload_place<float>(&carver, kCells, given.part[p].cell_x);
      parts_[p].cell_y = upload_place<float>(&carver, kCells, given.part[p].cell_y);
    }
    return carver.used();
  };
  tables_.need(carve(Carver(nullptr)));
  carve(Carver(tables_.as<void>()));
  if (scales == 0) view_.scales = nullptr;
}

void DeviceEncoder::encode_rows(const EncodeRows& rows, cudaStream_t stream) const {
  make_directions(view_, rows, stream);
  if (view_.rotation.kind == Rotation::basis)
    multiply_by_basis(view_.rotation, {rows.n, rows.values, rows.units, rows.u}, stream);
  if (!writes_all_bytes_)
    POLAR_CUDA_CHECK(
        cudaMemsetAsync(rows.codes, 0, static_cast<size_t>(rows.n) * view_.row_bytes, stream));
  for (const EncodePart& part : parts_) {
    if (part.kind == CodeKind::magnitudes) {
      magnitude_encode(view_, part, rows, stream);
    } else {
      trellis_encode(view_, part, rows, shared_bytes_, stream);
    }
  }
}

void DeviceEncoder::encode(EncodeRequest* request) const {
  request->refused_row = -1;
  if (request->n == 0) return;
  const CurrentDevice current(device_);
  auto* stream = static_cast<cudaStream_t>(request->stream);
  const WorkspaceLease lease(workspaces_, stream);
  Workspace& workspace = *lease;
  const bool x_is_there = is_on_device(request->x);
  const bool codes_are_there = is_on_device(request->codes);
  const int64_t most = std::min(request->n, kRowsAtOnce);
  const auto count_of = static_cast<size_t>(most);
  const auto dim = static_cast<size_t>(view_.dim);
  const bool has_basis = view_.rotation.kind == Rotation::basis;

  EncodeRows rows = {};
  float* staged_x = nullptr;
  uint8_t* staged_codes = nullptr;
  const auto carve = [&](Carver carver) {
    rows.refused = carver.take<Refused>(1);
    rows.u = carver.take<float>(count_of * dim);
    rows.lengths = carver.take<RowLength>(count_of);
    rows.values = carver.take<int8_t>(count_of * 2 * view_.rotation.value_stride);
    rows.units = carver.take<float>(has_basis ? count_of : 0);
    rows.sums = carver.take<double>(parts_.size() > 1 ? count_of * kDotSums : 0);
    staged_x = carver.take<float>(x_is_there ? 0 : count_of * dim);
    staged_codes = carver.take<uint8_t>(codes_are_there ? 0 : count_of * view_.row_bytes);
    return carver.used();
  };
  workspace.device.need(carve(Carver(nullptr)));
  workspace.pinned.need(sizeof(Refused));
  carve(Carver(workspace.device.as<void>()));
  POLAR_CUDA_CHECK(cudaMemsetAsync(rows.refused, 0xff, sizeof(Refused), stream));
  for (int64_t first = 0; first < request->n; first += most) {
    rows.n = std::min(most, request->n - first);
    rows.first_row = first;
    rows.x = request->x + static_cast<size_t>(first) * dim;
    uint8_t* codes = request->codes + static_cast<size_t>(first) * view_.row_bytes;
    rows.codes = codes_are_there ? codes : staged_codes;
    const auto count = static_cast<size_t>(rows.n);
    if (!x_is_there) {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(staged_x, rows.x, count * dim * sizeof(float),
                                       cudaMemcpyHostToDevice, stream));
      rows.x = staged_x;
    }
    encode_rows(rows, stream);
    if (!codes_are_there)
      POLAR_CUDA_CHECK(cudaMemcpyAsync(codes, staged_codes, count * view_.row_bytes,
                                       cudaMemcpyDeviceToHost, stream));
  }
  auto* found = workspace.pinned.as<Refused>();
  POLAR_CUDA_CHECK(
      cudaMemcpyAsync(found, rows.refused, sizeof *found, cudaMemcpyDeviceToHost, stream));
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
  if (*found == kNoneRefused) return;
  request->refused_row = static_cast<int64_t>(*found >> kRefusalBits);
  request->refusal = static_cast<Refusal>(*found & ((1U << kRefusalBits) - 1));
}

}  // namespace polarquant::cuda
