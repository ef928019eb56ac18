// SPDX-License-Identifier: MIT
// A codec on one device, to encode there.
#pragma once

#include "cuda/device_buffer.h"
#include "cuda/encode_view.h"
#include "cuda/workspace.h"

namespace polarquant::cuda {

class DeviceEncoder {
 public:
  DeviceEncoder(int device, const EncoderDescription& description);

  /// Codes have the bytes of Codec::encode. Waits for the stream.
  void encode(EncodeRequest* request) const;

 private:
  int device_;
  size_t shared_bytes_ = 0;  // of a thread block, at most
  EncodeView view_ = {};
  DeviceBuffer tables_;
  mutable WorkspacePool workspaces_;
};

}  // namespace polarquant::cuda
