// SPDX-License-Identifier: MIT
// Who uses an object: any number of calls that read it, or one that changes it. A change begins
// beside readers, for what it only computes, and waits for them when it comes to change something.
//
// They take turns: a reader that comes while a change waits or works goes after that one change,
// before the next; changes go in the order they came. Readers pay two atomic additions where nobody
// changes anything.
//
// Calls may come from callbacks of other calls on the same object, in any thread (InsideCall): a
// reader then goes beside the call that it is inside, a change is refused.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace polarquant {

class TurnLock {
 public:
  void begin_reading();
  void end_reading() noexcept;

  /// Waits for changes that came before, not for readers.
  void begin_change();
  /// From here on nobody reads, until end_change. Does nothing the second time. Who listens to the
  /// thread's work is asked meanwhile, and may end it (work_progress.h): then end_change is left.
  void wait_for_readers();
  void end_change() noexcept;

 private:
  void begin_process_anew();
  void wait_for_turn();

  std::atomic<int64_t> readers_{0};
  std::atomic<bool> is_changing_{false};  // readers wait
  std::atomic<uint64_t> process_{0};
  std::mutex mutex_;
  std::condition_variable turned_;
  int64_t waiting_readers_ = 0;
  uint64_t turn_ = 0;  // of readers: how many changes have ended that they waited for
  uint64_t next_ticket_ = 0;
  uint64_t ticket_ = 0;  // of the change that goes
};

/// While a call of this thread, or a callback that it makes in this thread, is inside a call on an
/// object.
class InsideCall {
 public:
  explicit InsideCall(const void* object) noexcept;
  ~InsideCall();
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

  static bool is_inside(const void* object) noexcept;

 private:
  const void* object_;
  const InsideCall* outer_;
};

/// A call that reads an object.
class Reading {
 public:
  explicit Reading(TurnLock& lock);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  TurnLock* lock_;  // null inside another call on it
  InsideCall inside_;
};

/// A call that changes an object. Throws bad_argument inside another call on it.
class Changing {
 public:
  explicit Changing(TurnLock& lock);
  ~Changing();
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;

  void wait_for_readers() { lock_.wait_for_readers(); }

 private:
  TurnLock& lock_;
  InsideCall inside_;
};

}  // namespace polarquant
