// SPDX-License-Identifier: MIT
// A codec on one device, to encode there.
#pragma once

#include <optional>
#include <vector>

#include "cuda/device_buffer.h"
#include "cuda/encode_view.h"
#include "cuda/rotation_tables.h"
#include "cuda/workspace.h"

namespace polarquant::cuda {

class DeviceEncoder {
 public:
  DeviceEncoder(int device, const EncoderDescription& description);

  /// Codes have the bytes of Codec::encode. Waits for the stream.
  void encode(EncodeRequest* request) const;

 private:
  void describe(const EncoderDescription& given);
  void describe_parts(const EncoderDescription& given);
  void require_short_rows() const;
  void upload(const EncoderDescription& given);
  void encode_rows(const EncodeRows& rows, cudaStream_t stream) const;

  int device_;
  size_t shared_bytes_ = 0;  // of a thread block, at most
  EncodeView view_ = {};
  int coded_dims_ = 0;
  std::optional<RotationTables> rotation_;
  std::vector<EncodePart> parts_;
  bool writes_all_bytes_ = false;  // of codes
  DeviceBuffer tables_;
  mutable WorkspacePool workspaces_;
};

}  // namespace polarquant::cuda
