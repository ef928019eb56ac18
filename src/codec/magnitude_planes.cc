// SPDX-License-Identifier: MIT
#include "src/codec/magnitude_planes.h"

#include <algorithm>
#include <cmath>

#include "src/codec/bit_packing.h"
#include "src/codec/lloyd_max.h"
#include "src/codec/sign_plane.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

int checked_bits(int bits) {
  require(bits >= kMinMagnitudeBits && bits <= kMaxMagnitudeBits, StatusCode::bad_argument,
          "bits: {} bits a dimension; {} to {} are allowed", bits, kMinMagnitudeBits,
          kMaxMagnitudeBits);
  return bits;
}

}  // namespace

MagnitudePlanes::MagnitudePlanes(int dim, int bits) : dim_(dim), bits_(checked_bits(bits)) {
  // The levels are symmetric about 0, which is the middle one of the boundaries.
  const LevelTable table(normal_codebook(bits));
  const size_t half = table.levels().size() / 2;
  levels_.assign(table.levels().begin() + static_cast<int64_t>(half), table.levels().end());
  boundaries_.assign(table.boundaries().begin() + static_cast<int64_t>(half),
                     table.boundaries().end());
}

double MagnitudePlanes::mse(int bits) { return normal_codebook(checked_bits(bits)).mse; }

size_t MagnitudePlanes::cell_bytes() const {
  return bytes_of_bits(static_cast<size_t>(dim_) * static_cast<size_t>(bits_ - 1));
}

void MagnitudePlanes::encode(const float* u, uint8_t* signs, uint8_t* cells) const {
  store_signs(u, dim_, signs);
  for (int j = 0; j < dim_; ++j) {
    const auto above = std::lower_bound(boundaries_.begin(), boundaries_.end(), std::fabs(u[j]));
    write_bits(cells, static_cast<size_t>(j) * static_cast<size_t>(bits_ - 1), bits_ - 1,
               static_cast<uint32_t>(above - boundaries_.begin()));
  }
}

void MagnitudePlanes::decode(const uint8_t* signs, const uint8_t* cells, float* u) const {
  thread_local std::vector<uint16_t> indices;
  indices.resize(static_cast<size_t>(dim_));
  read_fields(cells, 0, bits_ - 1, dim_, indices.data());
  for (int j = 0; j < dim_; ++j) u[j] = levels_[indices[static_cast<size_t>(j)]];
  apply_signs(signs, dim_, u);
}

}  // namespace polarquant
