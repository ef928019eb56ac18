// SPDX-License-Identifier: MIT
// "Polar8": one byte a coordinate, the nearest of the 256 Lloyd-Max levels of the standard normal.
// Max, IRE Trans. Inf. Theory 6, 1960; error 4.12e-5 per dimension on the unit Gaussian. At this
// rate a trellis gains little, and a byte would no longer be a coordinate.
//
// Code: byte j is the level index of coordinate j, 0 the most negative. No padding.
#pragma once

#include "src/codec/lloyd_max.h"
#include "src/codec/quantizer.h"

namespace polarquant {

class ByteQuantizer final : public Quantizer {
 public:
  /// dim in [1, 65535].
  explicit ByteQuantizer(int dim);

  Input input() const override { return Input::direction; }
  size_t code_bytes() const override { return static_cast<size_t>(dim_); }
  CodeDescription describe() const override {
    return {.stages = {{.parts = {{&table_, 0, dim_, 0}}}}};
  }
  double mse() const override { return mse_; }
  void encode(const float* v, uint8_t* code) const override;
  void decode(const uint8_t* code, int row, float* y) const override;
  size_t memory_bytes() const override { return table_.memory_bytes(); }

 private:
  int dim_;
  double mse_;
  LevelTable table_;
};

}  // namespace polarquant
