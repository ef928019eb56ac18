// SPDX-License-Identifier: MIT
// An index on a CUDA device as the C ABI has it: the codec that prepares queries, and the codes on
// the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/capi/cuda_library.h"
#include "src/codec/codec.h"
#include "src/scan/block_search.h"

namespace polarquant::capi {

class CudaIndex {
 public:
  /// Copies rows in blocks of this codec, whose state is copied too. `ids`: those of rows that have
  /// ids of their own, else empty. Throws unsupported for codes that are not searched on devices.
  CudaIndex(const Codec& codec, std::span<const BlockRows> spans, std::span<const int64_t> ids,
            int32_t device);

  int dim() const { return codec_->dim(); }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const;
  /// As block_search; `stream` is a cudaStream_t, which is waited for. `filter` is over ids.
  void search(int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
              const SearchOptions& options, void* stream, float* scores, int64_t* ids) const;

 private:
  std::vector<uint64_t> allowed_rows(const RowFilter& filter) const;

  std::unique_ptr<Codec> codec_;
  std::unique_ptr<ScanCodec> scan_codec_;
  int64_t rows_ = 0;
  std::vector<int64_t> ids_;
  DeviceIndexHandle device_index_;
};

}  // namespace polarquant::capi
