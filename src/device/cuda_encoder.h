// SPDX-License-Identifier: MIT
// An encoder on a CUDA device, for the C ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/codec.h"
#include "src/device/cuda_library.h"

namespace polarquant::device {

class CudaEncoder {
 public:
  /// Copies what encoding needs. Throws unsupported for codes that devices do not make.
  CudaEncoder(const Codec& codec, int32_t device);

  int dim() const { return dim_; }
  size_t row_bytes() const { return row_bytes_; }
  /// The bytes of Codec::encode; x and codes in host or device memory. Throws bad_argument naming
  /// the first row that cannot be coded; what is in codes is then not defined.
  void encode(int64_t n, const float* x, uint8_t* codes, void* stream) const;

 private:
  int dim_;
  size_t row_bytes_;
  double longest_;
  double norm_unit_;
  DeviceEncoderHandle device_encoder_;
};

}  // namespace polarquant::device
