// SPDX-License-Identifier: MIT
// Calls that train, add and encode, with the progress function that their thread has set.
#pragma once

#include <functional>
#include <utility>

#include "src/capi/exception_wall.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"

namespace polarquant::capi {

/// The thread's function; empty where it has none, and inside a call of it.
const std::function<bool(double)>& thread_progress() noexcept;

/// run_guarded of a body that polls the thread's progress. `what` begins the text of a stopped
/// call.
template <typename Body>
polar_status run_long(const char* what, Body&& body) noexcept {
  return run_guarded([&] {
    WorkProgress work(thread_progress(), what);
    try {
      std::forward<Body>(body)();
    } catch (const Error&) {
      throw;
    } catch (...) {
      work.check_stopped();  // FAISS says it in words of its own
      throw;
    }
    work.finish();
  });
}

}  // namespace polarquant::capi
