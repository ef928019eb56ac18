// SPDX-License-Identifier: MIT
// "PolarTree4.2.2.2": Han et al., "PolarQuant: Quantizing KV Caches with Polar Transformation",
// arXiv 2502.02617, Definition 1, Algorithm 1 and §4.1. In blocks of 2^L coordinates, level 1 turns
// pairs (x_2j, x_2j+1) into an angle in [0, 2π) and a radius, level 2 pairs of those radii into an
// angle in [0, π/2] and a radius, … until one radius is left after L levels, kept as float16. The
// angles of level l go to the nearest of 2^bits[l] centroids:
//   offline: Lloyd-Max for the density that a Gaussian vector's angles have (Lemma 2; lloyd_max.h);
//   online:  k-means++ with Lloyd's iteration on the angles of the training rows.
// Radii are rounded to float at each level, so that the comparisons of angle_codebook.h are exact.
// With L = ⌈log2 dim⌉ one radius remains of the whole vector, Algorithm 1's full depth.
//
// Where we differ: dimensions that are no multiple of 2^L are padded with zeros; level 1 takes the
// centroid that is nearest the shorter way round the circle, not along [0, 2π); offline codebooks
// come from the density itself, not from samples of it; online ones see at most 65536 angles a
// level, leave out pairs of two zero radii, and are learned once, not per prompt.
//
// Code: the float16 radii of all blocks, then the indices of level 1, of level 2, …, each level all
// blocks in order, in one bit string (bit_packing.h); its last byte's unused bits are 0.
#pragma once

#include <span>
#include <vector>

#include "src/codec/published/angle_codebook.h"
#include "src/codec/quantizer.h"

namespace polarquant {

class TreeQuantizer final : public Quantizer {
 public:
  static constexpr int64_t kMaxTrainingAngles = 65536;  // a level

  /// dim in [1, 65535]; bits: angle bits of levels 1 … L. Throws bad_argument unless each is in
  /// [1, 8] and L in [1, ⌈log2 max(dim, 2)⌉].
  TreeQuantizer(int dim, std::vector<int> bits, bool online);

  Input input() const override { return Input::vector; }
  size_t code_bytes() const override;
  CodeDescription describe() const override { return {.published = this}; }
  bool has_short_floats() const override { return true; }
  void set_short_float(ShortFloat form) override { short_float_ = form; }
  /// Throws bad_argument when a block's norm exceeds max_short_float(), or not_trained.
  void encode(const float* v, uint8_t* code) const override;
  void decode(const uint8_t* code, int row, float* y) const override;

  bool needs_training() const override { return online_; }
  bool is_trained() const override { return !codebooks_.empty(); }
  void train(int64_t n, const float* v, uint64_t seed) override;
  void save_tables(ByteWriter& out) const override;
  void load_tables(ByteReader& in) override;
  size_t memory_bytes() const override;

  int levels() const { return static_cast<int>(bits_.size()); }
  int blocks() const { return blocks_; }
  /// One a level, level 1 first; empty until trained.
  std::span<const AngleCodebook> codebooks() const { return codebooks_; }

 private:
  int block_size() const { return 1 << levels(); }
  int level_bits(int level) const { return bits_[static_cast<size_t>(level - 1)]; }
  const AngleCodebook& codebook(int level) const {
    return codebooks_[static_cast<size_t>(level - 1)];
  }
  size_t index_bit(int level, int64_t angle) const;
  bool training_angle(const float* v, int level, int64_t angle, double* out) const;
  std::vector<double> collect_angles(int64_t n, const float* v, int level, uint64_t seed) const;
  void require_trained() const;

  int dim_;
  std::vector<int> bits_;
  bool online_;
  int blocks_;
  ShortFloat short_float_ = ShortFloat::wide16;
  std::vector<AngleCodebook> codebooks_;
};

}  // namespace polarquant
