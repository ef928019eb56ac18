// SPDX-License-Identifier: MIT
#include "cuda/device_encoder.h"

#include <algorithm>
#include <string>

#include "cuda/cuda_check.h"
#include "cuda/device_memory.h"
#include "cuda/directions.h"
#include "cuda/trellis_encode.h"

namespace polarquant::cuda {
namespace {

/// Rows that are coded at a time: several times as many as a device works on at once.
constexpr int64_t kRowsAtOnce = 65536;
constexpr int kSignLayers = 9;

}  // namespace

DeviceEncoder::DeviceEncoder(int device, const EncoderDescription& given) : device_(device) {
  const CurrentDevice current(device);
  int shared = 0;
  POLAR_CUDA_CHECK(
      cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  shared_bytes_ = static_cast<size_t>(shared);
  view_.dim = given.dim;
  view_.pairs = (given.dim + 1) / 2;
  view_.step_bits = given.step_bits;
  view_.has_signs = given.has_signs;
  view_.sign_bytes = given.has_signs != 0 ? static_cast<uint32_t>(given.dim + 7) / 8 : 0;
  view_.code_bytes =
      view_.sign_bytes + static_cast<uint32_t>(view_.pairs * given.step_bits + 7) / 8;
  view_.row_bytes = view_.code_bytes + (given.factor_form == FactorForm::float32 ? 8 : 4);
  view_.rotation = given.rotation;
  view_.transform_size = given.transform_size;
  view_.transform_scale = given.transform_scale;
  view_.is_l2 = given.is_l2;
  view_.is_cosine = given.is_cosine;
  view_.factor_form = given.factor_form;
  view_.scale_unit = given.scale_unit;
  view_.bias_unit = given.bias_unit;
  view_.max_scale = given.max_scale;
  view_.root_dim = given.root_dim;
  view_.shortest = given.shortest;
  view_.longest = given.longest;
  view_.nearly_centre2 = given.nearly_centre2;
  view_.least_alignment = given.least_alignment;
  if (trellis_shared_bytes(view_, shared_bytes_) == 0 ||
      direction_shared_bytes(view_) > shared_bytes_)
    throw DeviceError(StatusCode::unsupported, "rows of " + std::to_string(given.dim) +
                                                   " dimensions are too long to be encoded there");

  const auto dim = static_cast<size_t>(given.dim);
  const size_t masks = given.rotation == Rotation::hadamard ? kSignLayers * dim : 0;
  const auto carve = [&](Carver carver) {
    view_.sign_masks = upload_place<uint32_t>(&carver, masks, given.sign_masks);
    view_.centre = upload_place<float>(&carver, dim, given.centre);
    view_.cell_x = upload_place<float>(&carver, kCells, given.cell_x);
    view_.cell_y = upload_place<float>(&carver, kCells, given.cell_y);
    return carver.used();
  };
  tables_.need(carve(Carver(nullptr)));
  carve(Carver(tables_.as<void>()));
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
  const auto rows = static_cast<size_t>(most);
  const auto dim = static_cast<size_t>(view_.dim);

  Refused* refused = nullptr;
  float* u = nullptr;
  RowLength* lengths = nullptr;
  float* staged_x = nullptr;
  uint8_t* staged_codes = nullptr;
  const auto carve = [&](Carver carver) {
    refused = carver.take<Refused>(1);
    u = carver.take<float>(rows * dim);
    lengths = carver.take<RowLength>(rows);
    staged_x = carver.take<float>(x_is_there ? 0 : rows * dim);
    staged_codes = carver.take<uint8_t>(codes_are_there ? 0 : rows * view_.row_bytes);
    return carver.used();
  };
  workspace.device.need(carve(Carver(nullptr)));
  workspace.pinned.need(sizeof(Refused));
  carve(Carver(workspace.device.as<void>()));
  POLAR_CUDA_CHECK(cudaMemsetAsync(refused, 0xff, sizeof *refused, stream));
  for (int64_t first = 0; first < request->n; first += most) {
    const int64_t count = std::min(most, request->n - first);
    const float* x = request->x + static_cast<size_t>(first) * dim;
    uint8_t* codes = request->codes + static_cast<size_t>(first) * view_.row_bytes;
    if (!x_is_there) {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(staged_x, x,
                                       static_cast<size_t>(count) * dim * sizeof(float),
                                       cudaMemcpyHostToDevice, stream));
      x = staged_x;
    }
    make_directions(view_, count, x, first, u, lengths, refused, stream);
    trellis_encode(view_, count, u, lengths, first, codes_are_there ? codes : staged_codes, refused,
                   shared_bytes_, stream);
    if (!codes_are_there)
      POLAR_CUDA_CHECK(cudaMemcpyAsync(codes, staged_codes,
                                       static_cast<size_t>(count) * view_.row_bytes,
                                       cudaMemcpyDeviceToHost, stream));
  }
  auto* found = workspace.pinned.as<Refused>();
  POLAR_CUDA_CHECK(cudaMemcpyAsync(found, refused, sizeof *found, cudaMemcpyDeviceToHost, stream));
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
  if (*found == kNoneRefused) return;
  request->refused_row = static_cast<int64_t>(*found >> kRefusalBits);
  request->refusal = static_cast<Refusal>(*found & ((1U << kRefusalBits) - 1));
}

}  // namespace polarquant::cuda
