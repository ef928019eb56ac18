// SPDX-License-Identifier: MIT
// Calls that train, add, encode and score, as their polar_work_options ask: how many threads, and
// who is told how far they are.
#pragma once

#include <functional>
#include <utility>

#include "polarquant/polarquant.h"
#include "src/capi/exception_wall.h"
#include "src/core/call_threads.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"

namespace polarquant::capi {

/// The caller's options checked and merged with the defaults; NULL gives the defaults.
polar_work_options read_work_options(const polar_work_options* given);
/// A caller's function as the layers below call it: false stops the work. Empty for NULL.
std::function<bool(double)> report_to(polar_progress_fn progress, void* user);

/// run_guarded of a body whose loops use the options' threads, and poll their progress. `what`
/// begins the text of a stopped call.
template <typename Body>
polar_status run_work(const char* what, const polar_work_options* options, Body&& body) noexcept {
  return run_guarded([&] {
    const polar_work_options read = read_work_options(options);
    const CallThreads threads(read.num_threads);
    const std::function<bool(double)> report = report_to(read.progress, read.progress_user);
    WorkProgress work(report, what);
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
