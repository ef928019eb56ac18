// SPDX-License-Identifier: MIT
#include "src/core/turn_lock.h"

#include <chrono>
#include <new>

#include "src/core/platform/platform.h"
#include "src/core/status.h"
#include "src/core/work_progress.h"

namespace polarquant {
namespace {

/// Counted on in a forked child, where threads of the parent hold locks for ever.
std::atomic<uint64_t> process{1};
const bool kForksAreKnown = platform::on_fork_in_child([] { process.fetch_add(1); });

constexpr std::chrono::milliseconds kBetweenPolls(50);

thread_local const InsideCall* innermost = nullptr;

TurnLock& require_outside(TurnLock& lock) {
  require(!InsideCall::is_inside(&lock), StatusCode::bad_argument,
          "index: a callback of a call on it cannot change it");
  return lock;
}

}  // namespace

// A child has one thread at first.
void TurnLock::begin_process_anew() {
  const uint64_t now = process.load(std::memory_order_relaxed);
  if (process_.load(std::memory_order_relaxed) == now || !kForksAreKnown) return;
  if (process_.exchange(now) == 0) return;  // it was not used before
  readers_ = 0;
  is_changing_ = false;
  new (&mutex_) std::mutex;
  new (&turned_) std::condition_variable;
  waiting_readers_ = 0;
  ticket_ = next_ticket_;
}

// A reader enters itself and then looks for a change, a change announces itself and then looks for
// readers: one of them sees the other.
void TurnLock::begin_reading() {
  begin_process_anew();
  readers_.fetch_add(1);
  if (is_changing_.load()) wait_for_turn();
}

void TurnLock::wait_for_turn() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!is_changing_.load()) return;
  readers_.fetch_sub(1);
  turned_.notify_all();
  ++waiting_readers_;
  const uint64_t turn = turn_;
  turned_.wait(lock, [&] { return turn_ != turn; });  // and is counted again
}

void TurnLock::end_reading() noexcept {
  if (readers_.fetch_sub(1) != 1 || !is_changing_.load()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  turned_.notify_all();
}

void TurnLock::begin_change() {
  begin_process_anew();
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  turned_.wait(lock, [&] { return ticket_ == ticket; });
}

void TurnLock::wait_for_readers() {
  if (is_changing_.load(std::memory_order_relaxed)) return;  // set by this change alone
  std::unique_lock<std::mutex> lock(mutex_);
  is_changing_.store(true);
  WorkProgress* const work = WorkProgress::current();
  const auto nobody_reads = [&] { return readers_.load() == 0; };
  if (work == nullptr) {
    turned_.wait(lock, nobody_reads);
    return;
  }
  work->begin_loop();
  while (!turned_.wait_for(lock, kBetweenPolls, nobody_reads)) {
    lock.unlock();
    work->poll();
    lock.lock();
  }
}

void TurnLock::end_change() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  readers_.fetch_add(waiting_readers_);
  waiting_readers_ = 0;
  ++turn_;
  is_changing_.store(false);
  ++ticket_;
  turned_.notify_all();
}

InsideCall::InsideCall(const void* object) noexcept : object_(object), outer_(innermost) {
  innermost = this;
}
InsideCall::~InsideCall() { innermost = outer_; }

bool InsideCall::is_inside(const void* object) noexcept {
  for (const InsideCall* call = innermost; call != nullptr; call = call->outer_)
    if (call->object_ == object) return true;
  return false;
}

Reading::Reading(TurnLock& lock)
    : lock_(InsideCall::is_inside(&lock) ? nullptr : &lock), inside_(&lock) {
  if (lock_ != nullptr) lock_->begin_reading();
}
Reading::~Reading() {
  if (lock_ != nullptr) lock_->end_reading();
}

Changing::Changing(TurnLock& lock) : lock_(require_outside(lock)), inside_(&lock) {
  lock.begin_change();
}
Changing::~Changing() { lock_.end_change(); }

}  // namespace polarquant
