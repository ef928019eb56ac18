// SPDX-License-Identifier: MIT
#include "src/codec/sign_plane.h"

#include <algorithm>
#include <bit>

namespace polarquant {
namespace {

constexpr uint32_t kSignBit = 0x80000000U;

}  // namespace

void store_signs(const float* u, int dim, uint8_t* signs) {
  const auto byte_of = [u](int first, int count) {
    unsigned byte = 0;
    for (int i = 0; i < count; ++i) byte |= static_cast<unsigned>(u[first + i] < 0) << i;
    return static_cast<uint8_t>(byte);
  };
  // Compilers unroll a constant count.
  int first = 0;
  for (; first + 8 <= dim; first += 8) signs[first / 8] = byte_of(first, 8);
  if (first < dim) signs[first / 8] = byte_of(first, dim - first);
}

// No branch for each sign: they are random.
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

}  // namespace polarquant
