// SPDX-License-Identifier: MIT
// Rows on devices that are none (plain_devices.h), and arrays in their memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/core/platform/platform.h"
#include "tests/capi/plain_devices.h"
#include "tests/cuda/cuda_support.h"

namespace polarquant::test {

inline constexpr int kDim = 24;

inline const PlainDevices& plain_devices() {
  std::string error;
  static void* library = platform::open_library(POLARQUANT_PLAIN_DEVICES, &error);
  INFO(error);
  REQUIRE(library != nullptr);
  using EntryPoint = const PlainDevices* (*)();
  return *reinterpret_cast<EntryPoint>(platform::find_function(library, kPlainDevicesEntry))();
}

/// Codes of a codec without rotation and centre, as these devices prepare queries of.
class PlainRows {
 public:
  explicit PlainRows(const std::string& spec) {
    const std::vector<float> x = clustered_rows(kRows, kDim, 3);
    polar_codec* codec = nullptr;
    require_ok(polar_codec_create(spec.c_str(), kDim, POLAR_METRIC_INNER_PRODUCT, nullptr, &codec));
    codec_.reset(codec);
    size_t bytes = 0;
    require_ok(polar_codec_encoded_bytes(codec, kRows, &bytes));
    codes_.resize(bytes);
    require_ok(polar_codec_encode(codec, kRows, x.data(), nullptr, codes_.data(), bytes));
  }
  Handle<polar_cuda_index> on(const std::vector<int32_t>& devices,
                              polar_cuda_layout layout = POLAR_CUDA_SHARDED) const {
    const polar_cuda_options options = places_on(devices, layout);
    polar_cuda_index* index = nullptr;
    require_ok(polar_cuda_index_from_codes(codec_.get(), kRows, codes_.data(), codes_.size(),
                                           &options, &index));
    return Handle<polar_cuda_index>(index);
  }

 private:
  static constexpr int64_t kRows = 300;
  Handle<polar_codec> codec_;
  std::vector<uint8_t> codes_;
};

/// An array that counts as a device's memory while it is there.
template <typename T>
class LentArray {
 public:
  LentArray(std::vector<T> values, int32_t device) : values_(std::move(values)) {
    if (device >= 0) plain_devices().lend(values_.data(), values_.size() * sizeof(T), device);
  }
  ~LentArray() { plain_devices().lend(values_.data(), 0, 0); }
  LentArray(const LentArray&) = delete;
  LentArray& operator=(const LentArray&) = delete;

  T* data() { return values_.data(); }
  const std::vector<T>& values() const { return values_; }

 private:
  std::vector<T> values_;
};

}  // namespace polarquant::test
