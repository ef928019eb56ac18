// SPDX-License-Identifier: MIT
#include "src/codec/published/scalar_quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/codec/bit_packing.h"
#include "src/codec/codec_kernels.h"
#include "src/codec/dot.h"
#include "src/codec/walsh_hadamard.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr int kMinBits = 2;
const float kSqrtBlock =
    static_cast<float>(std::sqrt(static_cast<double>(ScalarQuantizer::kBlock)));

int checked_bits(int bits) {
  require(bits >= kMinBits && bits <= kMaxCodebookBits, StatusCode::bad_argument,
          "PolarScalar: {} bits; {} to {} are allowed", bits, kMinBits, kMaxCodebookBits);
  return bits;
}

}  // namespace

ScalarQuantizer::ScalarQuantizer(int dim, int bits)
    : dim_(dim),
      bits_(checked_bits(bits)),
      blocks_((dim + kBlock - 1) / kBlock),
      table_(normal_codebook(bits)),
      walsh_hadamard_(walsh_hadamard) {}

void ScalarQuantizer::use_kernels(const CodecKernels& kernels) {
  walsh_hadamard_ = kernels.walsh_hadamard;
}

size_t ScalarQuantizer::code_bytes() const { return bytes_of_bits(index_bit(blocks_)); }

size_t ScalarQuantizer::index_bit(int block) const {
  return static_cast<size_t>(blocks_) * 16 +
         static_cast<size_t>(block) * static_cast<size_t>(kBlock * bits_);
}

void ScalarQuantizer::encode(const float* v, uint8_t* code) const {
  std::memset(code, 0, code_bytes());
  for (int block = 0; block < blocks_; ++block) {
    const float* source = v + block * kBlock;
    const int size = std::min(kBlock, dim_ - block * kBlock);
    const double norm = std::sqrt(dot_exact(source, source, size));
    require(norm <= max_short_float(short_float_), StatusCode::bad_argument,
            "PolarScalar: the norm of rotated coordinates {} to {} is {:.6g} units; 0 to {:.6g} "
            "are allowed",
            block * kBlock, block * kBlock + size - 1, norm, max_short_float(short_float_));
    write_short_float(short_float_, static_cast<float>(norm), code + 2 * block);
    if (code[2 * block] == 0 && code[2 * block + 1] == 0) continue;

    float z[kBlock] = {};
    for (int i = 0; i < size; ++i) z[i] = static_cast<float>(static_cast<double>(source[i]) / norm);
    walsh_hadamard_(z, kBlock);
    size_t bit = index_bit(block);
    for (const float value : z) {
      write_bits(code, bit, bits_, static_cast<uint32_t>(table_.nearest(kSqrtBlock * value)));
      bit += static_cast<size_t>(bits_);
    }
  }
}

void ScalarQuantizer::decode(const uint8_t* code, int /*row*/, float* y) const {
  for (int block = 0; block < blocks_; ++block) {
    const float scale = read_short_float(short_float_, code + 2 * block) / kSqrtBlock;
    uint16_t indices[kBlock];
    read_fields(code, index_bit(block), bits_, kBlock, indices);
    float z[kBlock];
    for (int i = 0; i < kBlock; ++i) z[i] = table_.level(indices[i]);
    walsh_hadamard_(z, kBlock);
    const int size = std::min(kBlock, dim_ - block * kBlock);
    for (int i = 0; i < size; ++i) y[block * kBlock + i] = scale * z[i];
  }
}

}  // namespace polarquant
