// SPDX-License-Identifier: MIT
// The wall between C++ exceptions and the C ABI: every exported function that can fail runs its
// body inside run_guarded, and nothing but a status leaves it.
#pragma once

#include <utility>

#include "polarquant/polarquant.h"

namespace polarquant::capi {

/// The status of the exception now being handled; its text is kept for polar_last_error. To be
/// called inside a catch block only.
polar_status status_of_current_exception() noexcept;

template <typename Body>
polar_status run_guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return POLAR_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace polarquant::capi
