// SPDX-License-Identifier: MIT
// Codecs and queries in the words of cuda/interface.h.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/interface.h"
#include "src/codec/codec.h"
#include "src/scan/scan_query.h"

namespace polarquant::capi {

/// Throws unsupported for codes that are not searched on devices.
cuda::CodeDescription describe_code(const Codec& codec, const ScanCodec& scan_codec);

/// Queries side by side, as a device takes them.
struct DeviceQueries {
  DeviceQueries(const ScanCodec& scan_codec, int64_t nq);
  void put(int64_t at, const ScanQuery& scan, const PreparedQuery& prepared);

  size_t lanes;
  size_t dim;
  std::vector<cuda::QueryConstants> constants;
  std::vector<int8_t> levels;
  std::vector<float> rotated;
};

}  // namespace polarquant::capi
