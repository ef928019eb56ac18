// SPDX-License-Identifier: MIT
#include "src/codec/trellis_quantizer.h"

#include <algorithm>
#include <cmath>

#include "src/codec/codec_kernels.h"
#include "src/codec/sign_plane.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

// Scratch memory of a window path, kept for each thread: encode is called row by row.
struct EncodeScratch {
  std::vector<float> points;
  std::vector<uint8_t> windows;
};

}  // namespace

const TrellisCodebook& trellis_codebook(int twice_bits) {
  const TrellisCodebook* found = find_trellis_codebook(twice_bits);
  require(found != nullptr, StatusCode::bad_argument,
          "bits: {} bits a dimension is not a rate of the trellis code", twice_bits / 2.0);
  return *found;
}

TrellisPlanes::TrellisPlanes(int dim, const TrellisCodebook& codebook, int exact_pairs)
    : dim_(dim),
      codebook_(codebook),
      weight_y_((static_cast<size_t>(dim) + 1) / 2, 1.0F),
      encoder_(codebook.cells, codebook.step, TrellisKernels(), exact_pairs),
      cell_bytes_(codebook.cells) {
  if (dim % 2 != 0) weight_y_.back() = 0;
}

size_t TrellisPlanes::quadrant_bytes() const {
  return codebook_.quadrant ? (static_cast<size_t>(dim_) + 7) / 8 : 0;
}

size_t TrellisPlanes::cell_bytes() const {
  return (static_cast<size_t>(pairs()) * codebook_.step + 7) / 8;
}

void TrellisPlanes::use_kernels(const TrellisKernels& kernels) {
  encoder_ = TrellisEncoder(codebook_.cells, codebook_.step, kernels, encoder_.exact_pairs());
}

void TrellisPlanes::encode(const float* u, uint8_t* signs, uint8_t* cells) const {
  thread_local EncodeScratch scratch;
  scratch.points.resize(2 * static_cast<size_t>(pairs()));
  scratch.windows.resize(pairs());
  float* x = scratch.points.data();
  float* y = x + pairs();
  for (int start = 0; start < dim_; start += kSegmentDims) {
    const int count = std::min(kSegmentDims, dim_ - start);
    const int half = (count + 1) / 2;
    std::copy_n(u + start, half, x + start / 2);
    std::copy_n(u + start + half, count - half, y + start / 2);
  }
  if (dim_ % 2 != 0) y[pairs() - 1] = 0;
  if (codebook_.quadrant) {
    for (int i = 0; i < 2 * pairs(); ++i) x[i] = std::fabs(x[i]);
    store_signs(u, dim_, signs);
  }
  encoder_.encode({x, y, weight_y_.data(), pairs()}, scratch.windows.data());
  pack_windows(scratch.windows.data(), pairs(), codebook_.step, cells);
}

void TrellisPlanes::read_cells(const uint8_t* windows, int first, float* u) const {
  for (int start = first; start < dim_; start += kSegmentDims, windows += kSegmentDims / 2) {
    const int count = std::min(kSegmentDims, dim_ - start);
    const int half = (count + 1) / 2;
    for (int t = 0; t < half; ++t) u[start + t] = codebook_.cells.x[windows[t]];
    for (int t = 0; t < count - half; ++t) u[start + half + t] = codebook_.cells.y[windows[t]];
  }
}

void TrellisPlanes::decode(const uint8_t* signs, const uint8_t* cells, float* u) const {
  const TrellisCode code = {codebook_.quadrant ? signs : nullptr, cells, dim_};
  const int decoded = encoder_.kernels().decode_segments(cell_bytes_, codebook_.step, code, u);
  if (decoded == dim_) return;
  thread_local std::vector<uint8_t> windows;
  windows.resize(pairs() - decoded / 2);
  read_windows(cells, pairs(), codebook_.step, decoded / 2, windows.data());
  read_cells(windows.data(), decoded, u);
  if (codebook_.quadrant) apply_signs(signs + decoded / 8, dim_ - decoded, u + decoded);
}

TrellisQuantizer::TrellisQuantizer(int dim, int twice_bits)
    : planes_(dim, trellis_codebook(twice_bits)) {}

void TrellisQuantizer::decode(const uint8_t* code, int row, float* y) const {
  (void)row;
  planes_.decode(code, y);
}

void TrellisQuantizer::use_kernels(const CodecKernels& kernels) {
  planes_.use_kernels(kernels.trellis);
}

size_t TrellisQuantizer::memory_bytes() const { return sizeof *this; }

CodeDescription TrellisQuantizer::describe() const {
  return {.stages = {{.parts = {planes_.at(0)}}}, .sign_plane_bytes = planes_.quadrant_bytes()};
}

}  // namespace polarquant
