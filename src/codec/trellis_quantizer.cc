// SPDX-License-Identifier: MIT
#include "src/codec/trellis_quantizer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/codec/codec_kernels.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr uint32_t kSignBit = 0x80000000U;

// Bit j is 1 when u_j is negative; −0 is not.
void store_signs(const float* u, int dim, uint8_t* signs) {
  const auto byte_of = [u](int first, int count) {
    unsigned byte = 0;
    for (int i = 0; i < count; ++i) byte |= static_cast<unsigned>(u[first + i] < 0) << i;
    return static_cast<uint8_t>(byte);
  };
  // The compiler unrolls a constant count.
  int first = 0;
  for (; first + 8 <= dim; first += 8) signs[first / 8] = byte_of(first, 8);
  if (first < dim) signs[first / 8] = byte_of(first, dim - first);
}

// Without a branch: signs are as random as can be.
void apply_signs(const uint8_t* signs, int dim, float* u) {
  for (int first = 0; first < dim; first += 8) {
    const uint32_t byte = signs[first / 8];
    const int count = std::min(8, dim - first);
    for (int i = 0; i < count; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(u[first + i]);
      u[first + i] = std::bit_cast<float>(bits ^ ((byte << (31 - i)) & kSignBit));
    }
  }
}

// A window path is found in scratch memory that is kept per thread: encode is called row by row.
struct EncodeScratch {
  std::vector<float> points;
  std::vector<uint8_t> windows;
};

const TrellisCodebook& codebook_of(int twice_bits) {
  const TrellisCodebook* found = find_trellis_codebook(twice_bits);
  require(found != nullptr, StatusCode::bad_argument,
          "bits: {} bits a dimension is not a rate of the trellis code", twice_bits / 2.0);
  return *found;
}

}  // namespace

TrellisPlanes::TrellisPlanes(int dim, const TrellisCodebook& codebook)
    : dim_(dim),
      codebook_(codebook),
      weight_y_((static_cast<size_t>(dim) + 1) / 2, 1.0F),
      encoder_(codebook.cells, codebook.step),
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
  encoder_ = TrellisEncoder(codebook_.cells, codebook_.step, kernels);
}

void TrellisPlanes::encode_and_decode(const float* u, uint8_t* planes, float* decoded) const {
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
    store_signs(u, dim_, planes);
  }
  encoder_.encode({x, y, weight_y_.data(), pairs()}, scratch.windows.data());
  pack_windows(scratch.windows.data(), pairs(), codebook_.step, planes + quadrant_bytes());
  if (decoded != nullptr) decode(planes, decoded);
}

void TrellisPlanes::read_cells(const uint8_t* windows, int first, float* u) const {
  for (int start = first; start < dim_; start += kSegmentDims, windows += kSegmentDims / 2) {
    const int count = std::min(kSegmentDims, dim_ - start);
    const int half = (count + 1) / 2;
    for (int t = 0; t < half; ++t) u[start + t] = codebook_.cells.x[windows[t]];
    for (int t = 0; t < count - half; ++t) u[start + half + t] = codebook_.cells.y[windows[t]];
  }
}

void TrellisPlanes::decode(const uint8_t* planes, float* u) const {
  const uint8_t* ring = planes + quadrant_bytes();
  const TrellisCode code = {codebook_.quadrant ? planes : nullptr, ring, dim_};
  const int front = encoder_.kernels().decode_front(cell_bytes_, codebook_.step, code, u);
  if (front == dim_) return;
  thread_local std::vector<uint8_t> windows;
  windows.resize(pairs() - front / 2);
  read_windows(ring, pairs(), codebook_.step, front / 2, windows.data());
  read_cells(windows.data(), front, u);
  if (codebook_.quadrant) apply_signs(planes + front / 8, dim_ - front, u + front);
}

TrellisQuantizer::TrellisQuantizer(int dim, int twice_bits)
    : planes_(dim, codebook_of(twice_bits)) {}

void TrellisQuantizer::decode(const uint8_t* code, int row, float* y) const {
  (void)row;
  planes_.decode(code, y);
}

void TrellisQuantizer::use_kernels(const CodecKernels& kernels) {
  planes_.use_kernels(kernels.trellis);
}

size_t TrellisQuantizer::memory_bytes() const { return sizeof *this; }

}  // namespace polarquant
