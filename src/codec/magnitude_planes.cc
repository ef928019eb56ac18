// SPDX-License-Identifier: MIT
#include "src/codec/magnitude_planes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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

// Signs are as random as can be: no branch looks at them.
void MagnitudePlanes::decode(const uint8_t* signs, const uint8_t* cells, float* u) const {
  constexpr int kTogether = 64;
  const int bits = bits_ - 1;
  for (int first = 0; first < dim_; first += kTogether) {
    const int count = std::min(kTogether, dim_ - first);
    uint16_t indices[kTogether];
    read_fields(cells, static_cast<size_t>(first) * static_cast<size_t>(bits), bits, count,
                indices);
    uint64_t negative = 0;
    std::memcpy(&negative, signs + first / 8, (static_cast<size_t>(count) + 7) / 8);
    for (int j = 0; j < count; ++j, negative >>= 1) {
      const uint32_t sign = static_cast<uint32_t>(negative & 1) << 31;
      u[first + j] = std::bit_cast<float>(std::bit_cast<uint32_t>(levels_[indices[j]]) ^ sign);
    }
  }
}

}  // namespace polarquant
