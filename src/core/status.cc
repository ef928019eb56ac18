// SPDX-License-Identifier: MIT
#include "src/core/status.h"

namespace polarquant {

const char* status_name(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::bad_argument:
      return "bad argument";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::not_trained:
      return "not trained";
    case StatusCode::not_found:
      return "not found";
    case StatusCode::state_mismatch:
      return "state mismatch";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::corrupt_data:
      return "corrupt data";
    case StatusCode::newer_format:
      return "newer format";
    case StatusCode::io:
      return "input/output error";
    case StatusCode::cuda:
      return "CUDA error";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::internal:
      return "internal error";
  }
  return "unknown status";
}

}  // namespace polarquant
