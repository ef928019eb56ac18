// SPDX-License-Identifier: MIT
// How this library fails inside: a DeviceError with a status number and a text. Every CUDA call
// goes through POLAR_CUDA_CHECK, which names the call and what the runtime said.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "src/core/status_code.h"

namespace polarquant::cuda {

class DeviceError : public std::runtime_error {
 public:
  DeviceError(StatusCode status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  StatusCode status() const noexcept { return status_; }

 private:
  StatusCode status_;
};

inline void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  // Clears the error: one that is not fatal would be read again.
  cudaGetLastError();
  const StatusCode status =
      result == cudaErrorMemoryAllocation ? StatusCode::out_of_memory : StatusCode::cuda;
  throw DeviceError(status, std::string(call) + ": " + cudaGetErrorName(result) + " (" +
                                cudaGetErrorString(result) + ")");
}

}  // namespace polarquant::cuda

#define POLAR_CUDA_CHECK(call) ::polarquant::cuda::check(call, #call)
/// To be used after a kernel's launch.
#define POLAR_CUDA_CHECK_LAUNCH(kernel) ::polarquant::cuda::check(cudaGetLastError(), #kernel)
