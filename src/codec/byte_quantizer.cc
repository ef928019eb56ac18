// SPDX-License-Identifier: MIT
#include "src/codec/byte_quantizer.h"

namespace polarquant {

ByteQuantizer::ByteQuantizer(int dim)
    : dim_(dim), mse_(normal_codebook(8).mse), table_(normal_codebook(8)) {}

void ByteQuantizer::encode(const float* v, uint8_t* code) const {
  for (int j = 0; j < dim_; ++j) code[j] = static_cast<uint8_t>(table_.nearest(v[j]));
}

void ByteQuantizer::decode(const uint8_t* code, int /*row*/, float* y) const {
  for (int j = 0; j < dim_; ++j) y[j] = table_.level(code[j]);
}

}  // namespace polarquant
