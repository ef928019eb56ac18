// SPDX-License-Identifier: MIT
// A codec on a device: scores and weighted sums of rows that callers hold.
#pragma once

#include "cuda/device_buffer.h"
#include "cuda/interface.h"
#include "cuda/workspace.h"

namespace polarquant::cuda {

class DeviceCodec {
 public:
  DeviceCodec(int device, const RowDescription& rows);

  void score(const RowScoresRequest& request) const;
  void combine(const RowSumsRequest& request) const;

 private:
  int device_;
  int multiprocessors_ = 0;
  RowDescription rows_;  // with tables on the device
  DeviceBuffer tables_;
  mutable WorkspacePool workspaces_;
};

}  // namespace polarquant::cuda
