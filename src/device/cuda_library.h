// SPDX-License-Identifier: MIT
// libpolarquant_cuda, loaded when a CUDA call first needs it: from POLARQUANT_CUDA_LIBRARY where
// the environment has that, else from beside this library, else from where the system looks.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "cuda/interface.h"
#include "src/core/status.h"

namespace polarquant::device {

/// The library's functions. Throws unsupported, saying what was looked for and what went wrong.
const cuda::FunctionTable& cuda_functions();

/// Calls one of them and throws its failure.
template <typename Function, typename... Args>
decltype(auto) call_cuda(Function function, Args&&... args) {
  cuda::Failure failure = {};
  const auto throw_failure = [&] {
    if (failure.status != 0) throw Error(static_cast<StatusCode>(failure.status), failure.text);
  };
  if constexpr (std::is_void_v<decltype(function(std::forward<Args>(args)..., &failure))>) {
    function(std::forward<Args>(args)..., &failure);
    throw_failure();
  } else {
    auto result = function(std::forward<Args>(args)..., &failure);
    throw_failure();
    return result;
  }
}

/// Runs body; a failure names the device.
template <typename Body>
void name_device(int32_t device, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    fail(error.code(), "CUDA device {}: {}", device, error.what());
  }
}

struct DeviceIndexDeleter {
  void operator()(cuda::DeviceIndex* index) const { cuda_functions().destroy(index); }
};
using DeviceIndexHandle = std::unique_ptr<cuda::DeviceIndex, DeviceIndexDeleter>;

struct DeviceBitsDeleter {
  void operator()(cuda::DeviceBits* bits) const { cuda_functions().destroy_bits(bits); }
};
using DeviceBitsHandle = std::unique_ptr<cuda::DeviceBits, DeviceBitsDeleter>;

struct PreparedSearchDeleter {
  void operator()(cuda::PreparedSearch* search) const { cuda_functions().destroy_search(search); }
};
using PreparedSearchHandle = std::unique_ptr<cuda::PreparedSearch, PreparedSearchDeleter>;

struct DeviceEncoderDeleter {
  void operator()(cuda::DeviceEncoder* encoder) const { cuda_functions().destroy_encoder(encoder); }
};
using DeviceEncoderHandle = std::unique_ptr<cuda::DeviceEncoder, DeviceEncoderDeleter>;

struct DeviceCodecDeleter {
  void operator()(cuda::DeviceCodec* codec) const { cuda_functions().destroy_codec(codec); }
};
using DeviceCodecHandle = std::unique_ptr<cuda::DeviceCodec, DeviceCodecDeleter>;

/// Throws unsupported where there is no CUDA device, and bad_argument for a number of none.
void require_cuda_device(const char* name, int32_t device);

}  // namespace polarquant::device
