// SPDX-License-Identifier: MIT
// The flagship: quadrant plane and cell plane of docs/codec.md, for one rate everywhere.
//
// Coordinates are taken in segments of 64, the last may be shorter; pair t of a segment of n is
// (x_t, x_{t+⌈n/2⌉}); with odd n the last pair's second coordinate is absent. The cell plane's
// window reads on across segments.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codec/quantizer.h"
#include "src/codec/segment_plan.h"
#include "src/codec/trellis.h"
#include "src/codec/trellis_codebooks.h"

namespace polarquant {

/// Throws bad_argument unless it is one of trellis_codebooks().
const TrellisCodebook& trellis_codebook(int twice_bits);

/// Codes and decodes the two planes of one codebook, which may lie apart; shared by the flagship,
/// both of its stages, and plans.
class TrellisPlanes {
 public:
  TrellisPlanes(int dim, const TrellisCodebook& codebook,
                int exact_pairs = TrellisEncoder::kExactPairs);

  int dim() const { return dim_; }
  int pairs() const { return static_cast<int>(weight_y_.size()); }
  const TrellisCodebook& codebook() const { return codebook_; }
  size_t quadrant_bytes() const;
  size_t cell_bytes() const;
  size_t bytes() const { return quadrant_bytes() + cell_bytes(); }

  void use_kernels(const TrellisKernels& kernels);

  void encode(const float* u, uint8_t* signs, uint8_t* cells) const;
  void decode(const uint8_t* signs, const uint8_t* cells, float* u) const;
  /// With the cell plane right after the quadrant plane.
  void encode(const float* u, uint8_t* planes) const {
    encode(u, planes, planes + quadrant_bytes());
  }
  CodePart at(size_t offset) const { return {this, 0, dim_, offset + quadrant_bytes(), offset}; }
  void decode(const uint8_t* planes, float* u) const {
    decode(planes, planes + quadrant_bytes(), u);
  }

 private:
  /// Reads coordinates from `first` on, which begins a segment; windows: those of their pairs.
  void read_cells(const uint8_t* windows, int first, float* u) const;

  int dim_;
  const TrellisCodebook& codebook_;
  std::vector<float> weight_y_;  // of each pair
  TrellisEncoder encoder_;
  CellBytes cell_bytes_;
};

class TrellisQuantizer : public Quantizer {
 public:
  /// twice_bits: one of trellis_codebooks().
  TrellisQuantizer(int dim, int twice_bits);

  Input input() const override { return Input::direction; }
  size_t code_bytes() const override { return planes_.bytes(); }
  CodeDescription describe() const override;
  double mse() const override { return planes_.codebook().mse; }
  void encode(const float* v, uint8_t* code) const override { planes_.encode(v, code); }
  void encode_and_decode(const float* v, uint8_t* code, float* y) const override {
    planes_.encode(v, code);
    planes_.decode(code, y);
  }
  void decode(const uint8_t* code, int row, float* y) const override;
  void use_kernels(const CodecKernels& kernels) override;
  size_t memory_bytes() const override;

 private:
  TrellisPlanes planes_;
};

}  // namespace polarquant
