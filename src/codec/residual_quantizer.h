// SPDX-License-Identifier: MIT
// Two stages, "Polar2+2": the flagship's planes, then the planes of gain·(u − û) with a codebook
// trained on that error. û = û₁ + ê/gain. Bytes: first stage, then second.
#pragma once

#include <cstdint>

#include "src/codec/quantizer.h"
#include "src/codec/trellis_quantizer.h"

namespace polarquant {

class ResidualQuantizer : public Quantizer {
 public:
  /// A pair of rates of residual_codebooks().
  ResidualQuantizer(int dim, int first_twice_bits, int second_twice_bits);

  Input input() const override { return Input::direction; }
  size_t code_bytes() const override { return first_.bytes() + second_.bytes(); }
  CodeDescription describe() const override;
  double mse() const override { return codebook_.mse; }
  void encode(const float* v, uint8_t* code) const override;
  void encode_and_decode(const float* v, uint8_t* code, float* y) const override;
  void decode(const uint8_t* code, int row, float* y) const override;
  void use_kernels(const CodecKernels& kernels) override;
  size_t memory_bytes() const override { return sizeof *this; }

 private:
  int dim_;
  const ResidualCodebook& codebook_;
  TrellisPlanes first_;
  TrellisPlanes second_;
};

}  // namespace polarquant
