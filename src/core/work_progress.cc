// SPDX-License-Identifier: MIT
#include "src/core/work_progress.h"

#include <algorithm>

#include "src/core/status.h"

namespace polarquant {
namespace {

thread_local WorkProgress* innermost = nullptr;

/// The least time between calls of the caller's function, which may take a lock of others.
constexpr std::chrono::milliseconds kBetweenQuestions{20};
/// The clock is read about this often.
constexpr std::chrono::milliseconds kBetweenLooks{2};
constexpr int64_t kMostPolls = 1 << 10;

}  // namespace

WorkProgress::WorkProgress(const std::function<bool(double)>& report, const char* what) noexcept
    : report_(report), what_(what), outer_(innermost), looked_at_clock_(Clock::now()) {
  innermost = report_ ? this : nullptr;
}

WorkProgress::~WorkProgress() { innermost = outer_; }

WorkProgress* WorkProgress::current() noexcept { return innermost; }

bool WorkProgress::wants_stop() {
  // The caller's function may itself call what polls: it is not asked again meanwhile.
  if (asking_ || kept_going_ > 0) return false;
  if (stopped_) return true;
  const Clock::time_point now = Clock::now();
  // As many polls as fit between two readings of the clock.
  const auto past = now - looked_at_clock_;
  if (past < kBetweenLooks / 2) {
    polls_between_ = std::min(polls_between_ * 2, kMostPolls);
  } else if (past > kBetweenLooks) {
    polls_between_ = std::max<int64_t>(polls_between_ / 4, 1);
  }
  polls_left_ = polls_between_;
  looked_at_clock_ = now;
  if (now - asked_ < kBetweenQuestions) return false;
  asking_ = true;
  try {
    stopped_ = !report_(done_);
  } catch (...) {
    asking_ = false;
    throw;
  }
  asking_ = false;
  asked_ = Clock::now();
  if (stopped_) polls_left_ = 0;
  return stopped_;
}

void WorkProgress::set_share(double share) noexcept {
  done_ = std::max(done_, begin_ + std::clamp(share, 0.0, 1.0) * (end_ - begin_));
}

void WorkProgress::finish() {
  if (report_ && !asking_) report_(1);
}

void WorkProgress::fail_stopped() const {
  fail(StatusCode::cancelled, "{}: stopped by its progress function", what_);
}

WorkStage::WorkStage(double begin, double end) noexcept : work_(WorkProgress::current()) {
  if (work_ == nullptr) return;
  outer_begin_ = work_->begin_;
  outer_end_ = work_->end_;
  const double length = outer_end_ - outer_begin_;
  work_->begin_ = outer_begin_ + begin * length;
  work_->end_ = outer_begin_ + end * length;
  work_->set_share(0);
  work_->begin_loop();
}

WorkStage::~WorkStage() {
  if (work_ == nullptr) return;
  work_->set_share(1);
  work_->begin_ = outer_begin_;
  work_->end_ = outer_end_;
}

}  // namespace polarquant
