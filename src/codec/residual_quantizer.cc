// SPDX-License-Identifier: MIT
#include "src/codec/residual_quantizer.h"

#include <vector>

#include "src/codec/codec_kernels.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

const ResidualCodebook& codebook_of(int first_twice_bits, int second_twice_bits) {
  const ResidualCodebook* found = find_residual_codebook(first_twice_bits, second_twice_bits);
  require(found != nullptr, StatusCode::bad_argument,
          "bits: {}+{} is not a pair of residual stages", first_twice_bits / 2.0,
          second_twice_bits / 2.0);
  return *found;
}

}  // namespace

ResidualQuantizer::ResidualQuantizer(int dim, int first_twice_bits, int second_twice_bits)
    : dim_(dim),
      codebook_(codebook_of(first_twice_bits, second_twice_bits)),
      first_(dim, *find_trellis_codebook(first_twice_bits)),
      second_(dim, codebook_.second) {}

void ResidualQuantizer::use_kernels(const CodecKernels& kernels) {
  first_.use_kernels(kernels.trellis);
  second_.use_kernels(kernels.trellis);
}

void ResidualQuantizer::encode(const float* v, uint8_t* code) const {
  thread_local std::vector<float> decoded;
  decoded.resize(dim_);
  encode_and_decode(v, code, decoded.data());
}

void ResidualQuantizer::encode_and_decode(const float* v, uint8_t* code, float* y) const {
  thread_local std::vector<float> scratch;
  scratch.resize(2 * static_cast<size_t>(dim_));
  float* error = scratch.data();
  float* decoded_error = error + dim_;
  first_.encode(v, code);
  first_.decode(code, y);
  for (int j = 0; j < dim_; ++j) error[j] = codebook_.gain * (v[j] - y[j]);
  second_.encode(error, code + first_.bytes());
  second_.decode(code + first_.bytes(), decoded_error);
  for (int j = 0; j < dim_; ++j) y[j] += decoded_error[j] / codebook_.gain;
}

void ResidualQuantizer::decode(const uint8_t* code, int row, float* y) const {
  (void)row;
  thread_local std::vector<float> error;
  error.resize(dim_);
  first_.decode(code, y);
  second_.decode(code + first_.bytes(), error.data());
  for (int j = 0; j < dim_; ++j) y[j] += error[j] / codebook_.gain;
}

CodeDescription ResidualQuantizer::describe() const {
  return {.stages = {{.parts = {first_.at(0)}},
                     {.parts = {second_.at(first_.bytes())}, .gain = codebook_.gain}},
          .sign_plane_bytes = first_.quadrant_bytes()};
}

}  // namespace polarquant
