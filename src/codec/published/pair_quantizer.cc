// SPDX-License-Identifier: MIT
#include "src/codec/published/pair_quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/codec/bit_packing.h"
#include "src/core/portable_math.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

double norm_of(float x, float y) {
  const auto wide_x = static_cast<double>(x);
  const auto wide_y = static_cast<double>(y);
  return std::sqrt(wide_x * wide_x + wide_y * wide_y);
}

AngleCodebook uniform_angles(int bits) {
  const int count = 1 << bits;
  std::vector<double> angles;
  for (int k = 0; k < count; ++k) angles.push_back(2 * kPi / count * k);
  return {std::move(angles), AngleCodebook::Range::circle};
}

int checked_bits(int bits, const char* what) {
  require(bits >= 1 && bits <= PairQuantizer::kMaxBits, StatusCode::bad_argument,
          "PolarPair: {} {} bits; 1 to {} are allowed", bits, what, PairQuantizer::kMaxBits);
  return bits;
}

}  // namespace

PairQuantizer::PairQuantizer(int dim, int angle_bits, int radius_bits)
    : dim_(dim),
      angle_bits_(checked_bits(angle_bits, "angle")),
      radius_bits_(checked_bits(radius_bits, "radius")),
      pairs_((dim + 1) / 2),
      angles_(uniform_angles(angle_bits)) {}

size_t PairQuantizer::code_bytes() const {
  return bytes_of_bits(static_cast<size_t>(pairs_) *
                       static_cast<size_t>(angle_bits_ + radius_bits_));
}

void PairQuantizer::encode(const float* v, uint8_t* code) const {
  require_trained();
  std::memset(code, 0, code_bytes());
  const int width = angle_bits_ + radius_bits_;
  const int top = (1 << radius_bits_) - 1;
  for (int pair = 0; pair < pairs_; ++pair) {
    const float x = v[2 * pair];
    const float y = second(v, pair);
    const auto step = static_cast<double>(radius_steps_[static_cast<size_t>(pair)]);
    // Clamped before it becomes an integer: r/s has no upper limit.
    const double rounded =
        step > 0 ? std::min(std::floor(norm_of(x, y) / step + 0.5), static_cast<double>(top)) : 0;
    const auto radius = static_cast<uint32_t>(rounded);
    const auto angle = static_cast<uint32_t>(angles_.nearest(x, y));
    write_bits(code, static_cast<size_t>(pair) * static_cast<size_t>(width), width,
               angle | (radius << angle_bits_));
  }
}

void PairQuantizer::decode(const uint8_t* code, int /*row*/, float* y) const {
  require_trained();
  const int width = angle_bits_ + radius_bits_;
  const float* cosines = angle_cosines().data();
  const float* sines = angle_sines().data();
  constexpr int kPairsTogether = 64;
  uint16_t fields[kPairsTogether];
  for (int first = 0; first < pairs_; first += kPairsTogether) {
    const int count = std::min(kPairsTogether, pairs_ - first);
    read_fields(code, static_cast<size_t>(first) * static_cast<size_t>(width), width, count,
                fields);
    for (int i = 0; i < count; ++i) {
      const int pair = first + i;
      const unsigned field = fields[i];
      const size_t angle = field & ((1U << angle_bits_) - 1);
      const float radius =
          static_cast<float>(field >> angle_bits_) * radius_steps_[static_cast<size_t>(pair)];
      y[2 * pair] = radius * cosines[angle];
      if (2 * pair + 1 < dim_) y[2 * pair + 1] = radius * sines[angle];
    }
  }
}

void PairQuantizer::train(int64_t n, const float* v, uint64_t /*seed*/) {
  std::vector<double> largest(static_cast<size_t>(pairs_), 0.0);
  for (int64_t row = 0; row < n; ++row) {
    const float* x = v + row * dim_;
    for (int pair = 0; pair < pairs_; ++pair) {
      const double radius = norm_of(x[2 * pair], second(x, pair));
      require(radius <= kMaxRadius, StatusCode::bad_argument,
              "PolarPair: the radius of rotated pair {} is {:.6g} units; 0 to {:g} are allowed",
              pair, radius, kMaxRadius);
      double& best = largest[static_cast<size_t>(pair)];
      best = std::max(best, radius);
    }
  }
  const int top = (1 << radius_bits_) - 1;
  std::vector<float> steps;
  for (const double radius : largest) steps.push_back(static_cast<float>(radius / top));
  radius_steps_ = std::move(steps);
}

void PairQuantizer::save_tables(ByteWriter& out) const { out.put_array(radius_steps_); }

void PairQuantizer::load_tables(ByteReader& in) {
  std::vector<float> steps =
      in.get_array<float>("PolarPair radius steps", static_cast<uint64_t>(pairs_));
  require(steps.empty() || steps.size() == static_cast<size_t>(pairs_), StatusCode::corrupt_data,
          "PolarPair: {} radius steps; 0 (not trained) or {} are allowed", steps.size(), pairs_);
  for (const float step : steps) {
    require(step >= 0 && static_cast<double>(step) <= kMaxRadius, StatusCode::corrupt_data,
            "PolarPair: radius step {}; 0 to {:g} are allowed", step, kMaxRadius);
  }
  radius_steps_ = std::move(steps);
}

size_t PairQuantizer::memory_bytes() const {
  return angles_.memory_bytes() + radius_steps_.capacity() * sizeof(float);
}

void PairQuantizer::require_trained() const {
  require(is_trained(), StatusCode::not_trained,
          "PolarPair needs train() before it can encode or decode");
}

}  // namespace polarquant
