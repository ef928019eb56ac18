// SPDX-License-Identifier: MIT
// A codec on a CUDA device, for the C ABI: scores and weighted sums of codes that callers hold.
#pragma once

#include <cstdint>
#include <memory>

#include "src/codec/codec.h"
#include "src/device/cuda_library.h"
#include "src/device/cuda_row_description.h"

namespace polarquant::device {

/// Rows of several heads: codes of n rows each, one head after the other, in host or device memory.
struct HeadRows {
  int64_t heads;
  int64_t n;
  const uint8_t* codes;
};

class CudaCodec {
 public:
  /// Copies the codec and, to the device, what decoding needs of it. Throws unsupported for codes
  /// that devices do not decode. `threads`: for preparing queries.
  CudaCodec(const Codec& codec, int32_t device, int32_t threads);

  const Codec& codec() const { return *codec_; }
  /// Scores of each head's rows with nq queries of it, (heads, nq, n), as Codec::score. Queries in
  /// host memory, scores in host or device memory.
  void score(const HeadRows& rows, int64_t nq, const float* queries, void* stream,
             float* scores) const;
  /// Codec::combine of each head's rows by nw vectors of weights, (heads, nw, n), into out,
  /// (heads, nw, dim). Weights in host or device memory, out in host memory. Throws bad_argument
  /// where a sum is not finite.
  void combine(const HeadRows& rows, int64_t nw, const float* weights, void* stream,
               float* out) const;

 private:
  std::unique_ptr<Codec> codec_;
  int32_t threads_;
  CudaRowDescription rows_;
  DeviceCodecHandle device_codec_;
};

}  // namespace polarquant::device
