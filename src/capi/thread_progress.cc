// SPDX-License-Identifier: MIT
#include "src/capi/thread_progress.h"

#include "polarquant/polarquant.h"

namespace polarquant::capi {
namespace {

thread_local std::function<bool(double)> of_thread;

}  // namespace

const std::function<bool(double)>& thread_progress() noexcept {
  static const std::function<bool(double)> nobody;
  return WorkProgress::current() == nullptr ? of_thread : nobody;
}

}  // namespace polarquant::capi

extern "C" void polar_set_thread_progress(polar_progress_fn progress, void* user) {
  if (progress == nullptr) {
    polarquant::capi::of_thread = nullptr;
  } else {
    polarquant::capi::of_thread = [progress, user](double done) {
      return progress(user, done) == 0;
    };
  }
}
