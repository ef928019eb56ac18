// SPDX-License-Identifier: MIT
// Tells the caller of a long call (training, adding, building) how far it is, and lets the caller
// end it. The work is done many functions below the one that knows the caller, in FAISS too. So
// progress belongs to a thread: whoever works for long asks for the progress of its thread, if
// there is one, and parallel_for asks for all loops. Code that must not be left half way holds a
// WorkWithoutStop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace polarquant {

/// One call's progress, for the thread that makes it, from construction to destruction. With an
/// empty `report` nobody is told. `what` begins the text of the error of a stopped call.
class WorkProgress {
 public:
  WorkProgress(const std::function<bool(double)>& report, const char* what) noexcept;
  ~WorkProgress();
  WorkProgress(const WorkProgress&) = delete;
  WorkProgress& operator=(const WorkProgress&) = delete;

  /// The innermost of the calling thread; null where nobody listens.
  static WorkProgress* current() noexcept;

  /// Throws cancelled once the caller wants the call to stop. May be called as often as one likes:
  /// the caller's function is called only some times a second.
  void poll() {
    if (--polls_left_ <= 0 && wants_stop()) fail_stopped();
  }
  /// Polls come in other intervals from here on.
  void begin_loop() noexcept { polls_left_ = polls_between_ = 1; }
  /// poll() for code that cannot throw; asks the caller's function when it is time.
  bool wants_stop();
  bool is_stopped() const { return stopped_; }
  /// Throws if the call is stopped, without asking.
  void check_stopped() const {
    if (stopped_ && kept_going_ == 0) fail_stopped();
  }
  /// How much of the stage at hand is done, 0 to 1; what is told never falls.
  void set_share(double share) noexcept;
  /// Tells that all is done; the caller can no longer stop the call.
  void finish();

 private:
  friend class WorkStage;
  friend class WorkWithoutStop;
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void fail_stopped() const;

  const std::function<bool(double)>& report_;
  const char* what_;
  WorkProgress* outer_;
  double begin_ = 0, end_ = 1;  // of the stage at hand
  double done_ = 0;
  bool stopped_ = false;
  bool asking_ = false;
  int kept_going_ = 0;
  int64_t polls_left_ = 1;
  int64_t polls_between_ = 1;
  Clock::time_point looked_at_clock_;
  Clock::time_point asked_;
};

/// poll() of the thread's progress, if there is one.
inline void poll_work() {
  if (WorkProgress* const work = WorkProgress::current()) work->poll();
}
/// poll() and set_share() of the thread's progress, if there is one.
inline void report_work(double share) {
  if (WorkProgress* const work = WorkProgress::current()) {
    work->set_share(share);
    work->poll();
  }
}

/// A part of the work: it goes from `begin` to `end`, 0 to 1, of the stage around it.
class WorkStage {
 public:
  WorkStage(double begin, double end) noexcept;
  ~WorkStage();
  WorkStage(const WorkStage&) = delete;
  WorkStage& operator=(const WorkStage&) = delete;

 private:
  WorkProgress* work_;
  double outer_begin_ = 0, outer_end_ = 1;
};

/// While one lives, the thread's call is not stopped.
class WorkWithoutStop {
 public:
  WorkWithoutStop() noexcept : work_(WorkProgress::current()) {
    if (work_ != nullptr) ++work_->kept_going_;
  }
  ~WorkWithoutStop() {
    if (work_ != nullptr) --work_->kept_going_;
  }
  WorkWithoutStop(const WorkWithoutStop&) = delete;
  WorkWithoutStop& operator=(const WorkWithoutStop&) = delete;

 private:
  WorkProgress* work_;
};

}  // namespace polarquant
