// SPDX-License-Identifier: MIT
// "PolarScalar2" … "PolarScalar8": Vicentino, "PolarQuant: Optimal Gaussian Weight Quantization via
// Hadamard Rotation for LLM Compression", 2026, stages 1 to 4. A vector is cut into blocks of 128
// coordinates; a block b keeps its norm ‖b‖, and z = √128·H·b/‖b‖, H the normalized Walsh-Hadamard
// matrix, goes coordinate by coordinate to the nearest of 2^bits Lloyd-Max levels of the standard
// normal. Decoded: ‖b‖·H·ẑ/√128.
//
// Where we differ: the last block is padded with zeros to 128 (the source's weights fill theirs),
// and a block whose norm rounds to 0 has all indices 0.
//
// Code: per block the norm as float16, then all indices of `bits` bits, block after block, in one
// bit string (bit_packing.h); its last byte's unused bits are 0.
#pragma once

#include "src/codec/lloyd_max.h"
#include "src/codec/quantizer.h"

namespace polarquant {

class ScalarQuantizer final : public Quantizer {
 public:
  static constexpr int kBlock = 128;

  /// dim in [1, 65535]; throws bad_argument unless bits is in [2, 8].
  ScalarQuantizer(int dim, int bits);

  Input input() const override { return Input::vector; }
  size_t code_bytes() const override;
  CodeDescription describe() const override { return {.published = this}; }
  bool has_short_floats() const override { return true; }
  void set_short_float(ShortFloat form) override { short_float_ = form; }
  /// Throws bad_argument when a block's norm exceeds max_short_float().
  void encode(const float* v, uint8_t* code) const override;
  void decode(const uint8_t* code, int row, float* y) const override;
  void use_kernels(const CodecKernels& kernels) override;
  size_t memory_bytes() const override { return table_.memory_bytes(); }

  const LevelTable& table() const { return table_; }

 private:
  size_t index_bit(int block) const;

  int dim_;
  int bits_;
  int blocks_;
  LevelTable table_;
  ShortFloat short_float_ = ShortFloat::wide16;
  void (*walsh_hadamard_)(float* x, int size);
};

}  // namespace polarquant
