// SPDX-License-Identifier: MIT
// "PolarPair4x4", …: Wu et al., "PolarQuant: Leveraging Polar Transformation for Efficient Key
// Cache Quantization and Decoding Acceleration", arXiv 2502.00527, §3.2 and §3.3. Coordinates 2j
// and 2j+1 are a point (r, θ); with m angle bits and n radius bits
//   angle index  k = ⌊2^(m−1)·θ/π⌉ mod 2^m,
//   radius index ρ = clamp(⌊r/s_j⌉, 0, 2^n−1),  s_j = max r in training / (2^n−1),
// decoded as ρ·s_j·(cos, sin)(2πk/2^m). A query's score is Σ_j ρ·s_j·T_j[k] with the table
// T_j[k] = q_2j·cos(2πk/2^m) + q_2j+1·sin(2πk/2^m): angle_cosines, angle_sines and radius_steps.
//
// Where we differ: the paper's θ is atan2 + π, but its decoding formula does not take the π off
// again, so that taken literally every point comes back mirrored; our θ is atan2 in [0, 2π), and
// index 0 is the positive x axis. Halves round up. Odd dimensions are padded with one 0.
//
// Code: pair j is a field of m+n bits at bit j·(m+n) (bit_packing.h): k in the low m bits, ρ above.
#pragma once

#include <span>
#include <vector>

#include "src/codec/published/angle_codebook.h"
#include "src/codec/quantizer.h"

namespace polarquant {

class PairQuantizer final : public Quantizer {
 public:
  static constexpr int kMaxBits = 8;
  /// Largest radius in training; keeps every decoded value finite.
  static constexpr double kMaxRadius = 0x1p100;

  /// dim in [1, 65535]; throws bad_argument unless both bits are in [1, 8].
  PairQuantizer(int dim, int angle_bits, int radius_bits);

  Input input() const override { return Input::vector; }
  size_t code_bytes() const override;
  CodeDescription describe() const override { return {.published = this}; }
  /// Throws not_trained.
  void encode(const float* v, uint8_t* code) const override;
  void decode(const uint8_t* code, int row, float* y) const override;

  bool needs_training() const override { return true; }
  bool is_trained() const override { return !radius_steps_.empty(); }
  /// The largest radius of each pair; rows beyond it later on are clamped to it. Throws
  /// bad_argument for a radius over kMaxRadius.
  void train(int64_t n, const float* v, uint64_t seed) override;
  void save_tables(ByteWriter& out) const override;
  void load_tables(ByteReader& in) override;
  size_t memory_bytes() const override;

  int pairs() const { return pairs_; }
  int angle_bits() const { return angle_bits_; }
  int radius_bits() const { return radius_bits_; }
  /// cos(2πk/2^m) and sin(2πk/2^m), k = 0 … 2^m−1.
  std::span<const float> angle_cosines() const { return angles_.cosines(); }
  std::span<const float> angle_sines() const { return angles_.sines(); }
  /// s_j, one a pair; empty until trained.
  std::span<const float> radius_steps() const { return radius_steps_; }

 private:
  float second(const float* v, int pair) const { return 2 * pair + 1 < dim_ ? v[2 * pair + 1] : 0; }
  void require_trained() const;

  int dim_;
  int angle_bits_;
  int radius_bits_;
  int pairs_;
  AngleCodebook angles_;
  std::vector<float> radius_steps_;
};

}  // namespace polarquant
