// SPDX-License-Identifier: MIT
// Describes codecs and queries by the structs of cuda/interface.h.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/interface.h"
#include "src/codec/codec.h"
#include "src/scan/model/scan_query.h"

namespace polarquant::device {

/// A code as a device takes it, and what that points to.
class DeviceCode {
 public:
  /// Throws unsupported for codes that are not searched on devices.
  DeviceCode(const Codec& codec, const ScanCodec& scan_codec);
  const cuda::CodeDescription& description() const { return code_; }

 private:
  void describe_stages(const CodeDescription& code, const ScanCodec& scan_codec);
  void describe_plan(const CodeDescription& code, const ScanCodec& scan_codec);

  cuda::CodeDescription code_ = {};
  std::vector<cuda::PartDescription> parts_;
  std::vector<float> scales_;  // of a trained code's segments
};

/// The numbers by which devices make values and bounds of queries themselves.
cuda::Int8Description describe_values(const ScanCodec& scan_codec);

/// Queries side by side, as a device takes them.
struct DeviceQueries {
  DeviceQueries(const ScanCodec& scan_codec, int64_t nq);
  /// For an inverted file, which makes values itself. queries: (nq, dim), borrowed.
  DeviceQueries(const ScanCodec& scan_codec, int64_t nq, const float* queries);
  /// Those in the device's memory, which it prepares.
  DeviceQueries(const ScanCodec& scan_codec, const cuda::ResidentQueries& queries);
  void put(int64_t at, const PreparedQuery& prepared);
  /// Not for an inverted file.
  void put_values(int64_t at, const ScanQuery& scan);

  /// A search's request with these queries; the caller adds what is to be found.
  cuda::SearchRequest request(int64_t first, int64_t count) const;

  size_t padded_dim;
  size_t dim;
  const float* given = nullptr;         // for an inverted file
  cuda::ResidentQueries resident = {};  // then there are none of the following
  std::vector<cuda::QueryConstants> constants;
  std::vector<int8_t> values;
  std::vector<float> rotated;
  std::vector<cuda::QueryTerms> terms;
};

}  // namespace polarquant::device
