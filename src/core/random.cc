// SPDX-License-Identifier: MIT
#include "src/core/random.h"

#include <cmath>

#include "src/core/portable_math.h"

namespace polarquant {
namespace {

uint64_t mix(uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed, uint64_t stream) noexcept : state_(seed ^ mix(stream + 1)) {}

uint64_t Random::next() noexcept {
  state_ += 0x9e3779b97f4a7c15ULL;
  return mix(state_);
}

double Random::uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

uint64_t Random::below(uint64_t bound) noexcept {
  using Wide = unsigned __int128;
  const uint64_t reject_under = (0 - bound) % bound;
  for (;;) {
    const Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<uint64_t>(product) >= reject_under) return static_cast<uint64_t>(product >> 64);
  }
}

double Random::normal() noexcept {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  for (;;) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double s = x * x + y * y;
    if (s >= 1 || s == 0) continue;
    const double factor = std::sqrt(-2 * portable_log(s) / s);
    spare_normal_ = y * factor;
    has_spare_normal_ = true;
    return x * factor;
  }
}

}  // namespace polarquant
