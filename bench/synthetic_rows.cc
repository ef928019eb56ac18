// SPDX-License-Identifier: MIT
#include "bench/synthetic_rows.h"

#include <algorithm>
#include <cmath>

namespace polarquant::bench {
namespace {

constexpr double kDecay = .8;
constexpr float kWithinShare = .5F;
constexpr double kMeanLength = .25;
constexpr int64_t kClusterRows = 200;

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// About normal, of variance 1.
float normal(uint64_t bits) {
  const uint64_t pairs = (bits & 0x00ff00ff00ff00ffU) + ((bits >> 8) & 0x00ff00ff00ff00ffU);
  const uint64_t sum = (pairs * 0x0001000100010001U) >> 48;
  // Eight bytes: mean 1020, variance 8·(256² − 1)/12.
  return (static_cast<float>(sum) - 1020.0F) * (1 / 209.02F);
}

class Stream {
 public:
  Stream(uint64_t seed, uint64_t stream) : state_(mix(seed ^ mix(stream))) {}
  float next() {
    state_ += 0x9e3779b97f4a7c15U;
    return normal(mix(state_));
  }

 private:
  uint64_t state_;
};

}  // namespace

SyntheticRows::SyntheticRows(SyntheticKind kind, int64_t rows, int dim, uint64_t seed)
    : kind_(kind),
      dim_(dim),
      seed_(seed),
      clusters_(std::max<int64_t>(1, rows / kClusterRows)),
      scale_(static_cast<size_t>(dim), 1.0F),
      mean_(static_cast<size_t>(dim), 0.0F) {
  if (kind == SyntheticKind::gaussian) return;
  double squared_norm = 0;
  for (int j = 0; j < dim; ++j) squared_norm += std::pow(j + 1, -kDecay);
  Stream random(seed, ~uint64_t{0});
  double mean_squared_norm = 0;
  for (size_t j = 0; j < scale_.size(); ++j) {
    scale_[j] =
        static_cast<float>(std::sqrt(std::pow(static_cast<double>(j) + 1, -kDecay) / squared_norm));
    mean_[j] = random.next();
    mean_squared_norm += mean_[j] * mean_[j];
  }
  for (float& value : mean_)
    value *= static_cast<float>(kMeanLength / std::sqrt(mean_squared_norm));
}

void SyntheticRows::fill(int64_t first, int64_t count, float* x) const {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<uint64_t>(first + i);
    const uint64_t cluster = mix(seed_ + 3 * row) % static_cast<uint64_t>(clusters_);
    Stream own(seed_, 2 * row);
    Stream centre(seed_, 2 * cluster + 1);
    float* to = x + i * dim_;
    float norm2 = 0;
    for (int j = 0; j < dim_; ++j) {
      const auto at = static_cast<size_t>(j);
      float value = own.next();
      if (kind_ == SyntheticKind::clustered)
        value = mean_[at] + scale_[at] * (std::sqrt(kWithinShare) * value +
                                          std::sqrt(1 - kWithinShare) * centre.next());
      to[j] = value;
      norm2 += value * value;
    }
    const float to_unit = 1 / std::sqrt(norm2);
    for (int j = 0; j < dim_; ++j) to[j] *= to_unit;
  }
}

}  // namespace polarquant::bench
