// SPDX-License-Identifier: MIT
#include "src/codec/trellis_quantizer.h"

#include <algorithm>
#include <cmath>

#include "src/core/status.h"

namespace polarquant {
namespace {

bool read_bit(const uint8_t* bits, int position) {
  return ((bits[position / 8] >> (position % 8)) & 1) != 0;
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

PairOrder::PairOrder(int dim) {
  for (int start = 0; start < dim; start += kSegmentDims) {
    const int count = std::min(kSegmentDims, dim - start);
    const int half = (count + 1) / 2;
    for (int t = 0; t < half; ++t) {
      first_.push_back(start + t);
      second_.push_back(half + t < count ? start + half + t : -1);
    }
  }
}

TrellisPlanes::TrellisPlanes(int dim, const TrellisCodebook& codebook)
    : dim_(dim), codebook_(codebook), order_(dim), weight_y_(order_.pairs()) {
  for (int pair = 0; pair < order_.pairs(); ++pair) {
    weight_y_[pair] = order_.second(pair) >= 0 ? 1.0F : 0.0F;
  }
}

size_t TrellisPlanes::quadrant_bytes() const {
  return codebook_.quadrant ? (static_cast<size_t>(dim_) + 7) / 8 : 0;
}

size_t TrellisPlanes::cell_bytes() const {
  return (static_cast<size_t>(order_.pairs()) * codebook_.step + 7) / 8;
}

void TrellisPlanes::encode(const float* u, uint8_t* planes) const {
  thread_local EncodeScratch scratch;
  const int pairs = order_.pairs();
  scratch.points.resize(2 * static_cast<size_t>(pairs));
  scratch.windows.resize(pairs);
  float* x = scratch.points.data();
  float* y = x + pairs;
  for (int pair = 0; pair < pairs; ++pair) {
    const int second = order_.second(pair);
    x[pair] = u[order_.first(pair)];
    y[pair] = second >= 0 ? u[second] : 0.0F;
  }
  if (codebook_.quadrant) {
    for (int i = 0; i < 2 * pairs; ++i) x[i] = std::fabs(x[i]);
    std::fill_n(planes, quadrant_bytes(), uint8_t{0});
    for (int j = 0; j < dim_; ++j) {
      if (u[j] < 0) planes[j / 8] = static_cast<uint8_t>(planes[j / 8] | (1 << (j % 8)));
    }
  }
  TrellisEncoder encoder(codebook_.cells, codebook_.step);
  encoder.encode({x, y, weight_y_.data(), pairs}, scratch.windows.data());
  pack_windows(scratch.windows.data(), pairs, codebook_.step, planes + quadrant_bytes());
}

void TrellisPlanes::decode(const uint8_t* planes, float* u) const {
  const uint8_t* ring = planes + quadrant_bytes();
  for (int pair = 0; pair < order_.pairs(); ++pair) {
    const int window = read_window(ring, order_.pairs(), codebook_.step, pair);
    u[order_.first(pair)] = codebook_.cells.x[window];
    if (order_.second(pair) >= 0) u[order_.second(pair)] = codebook_.cells.y[window];
  }
  if (!codebook_.quadrant) return;
  for (int j = 0; j < dim_; ++j) {
    if (read_bit(planes, j)) u[j] = -u[j];
  }
}

TrellisQuantizer::TrellisQuantizer(int dim, int twice_bits) : planes_(dim, codebook_of(twice_bits)) {}

void TrellisQuantizer::decode(const uint8_t* code, int row, float* y) const {
  (void)row;
  planes_.decode(code, y);
}

size_t TrellisQuantizer::memory_bytes() const { return sizeof *this; }

}  // namespace polarquant
