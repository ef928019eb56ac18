// SPDX-License-Identifier: MIT
// A codec's rotation on a device.
#pragma once

#include "cuda/device_buffer.h"
#include "cuda/rotation_view.h"

namespace polarquant::cuda {

class RotationTables {
 public:
  /// Copies it to the current device, for results of which the first `wanted` coordinates are
  /// needed.
  RotationTables(const RotationDescription& given, int dim, int wanted);

  const RotationView& view() const { return view_; }
  size_t bytes() const { return tables_.bytes(); }

 private:
  RotationView view_ = {};
  DeviceBuffer tables_;
};

/// The same before anything is copied: for sizes.
RotationView view_of(const RotationDescription& given, int dim, int wanted);

}  // namespace polarquant::cuda
