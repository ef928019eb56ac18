// SPDX-License-Identifier: MIT
// How searches of our own hear that they are to stop; training, adding and FAISS's own loops hear
// it by core/work_progress.h.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>

#include "src/core/status.h"

namespace polarquant {

/// What a request's progress function hears of, and says.
class SearchProgress {
 public:
  /// `total`: of the work that advance() tells of. `what` begins the error of a stopped call.
  SearchProgress(const std::function<bool(double)>& report, double total,
                 const char* what = "search")
      : report_(report), total_(total), what_(what) {}

  void advance(double work) {
    if (!report_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += work;
    // Once stopped, other threads stop too, and the function is not asked again.
    stopped_ = stopped_ || !report_(total_ > 0 ? std::min(done_ / total_, 1.0) : 1.0);
    require(!stopped_, StatusCode::cancelled, "{}: stopped by its progress function", what_);
  }

 private:
  const std::function<bool(double)>& report_;
  double total_;
  const char* what_;
  double done_ = 0;
  bool stopped_ = false;
  std::mutex mutex_;
};

}  // namespace polarquant
