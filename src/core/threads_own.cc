// SPDX-License-Identifier: MIT
// Teams of std::thread, in the place of OpenMP's.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/platform/platform.h"
#include "src/core/threads.h"

namespace polarquant {
namespace {

using Body = std::function<void(int)>;

/// 0: none was set.
thread_local int default_of_thread = 0;
/// Whether this thread runs part of a loop.
thread_local bool in_loop = false;

int machine_threads() noexcept {
  static const int count = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  return count;
}

/// The first number of OMP_NUM_THREADS, or the CPUs.
int initial_threads() noexcept {
  static const int threads = [] {
    const char* text = std::getenv("OMP_NUM_THREADS");
    const long wanted = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    constexpr long kMost = 1024;
    return wanted > 0 ? static_cast<int>(std::min(wanted, kMost)) : machine_threads();
  }();
  return threads;
}

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// How long a helping thread looks for its next loop before it sleeps: waking it takes as long as a
/// search. Loops that follow each other within this time find it awake.
constexpr microseconds kLongLook{500};
/// Where they do not, other threads have more use of the CPU; one call may have several loops.
constexpr microseconds kShortLook{20};
/// How long a caller looks for the end of its helpers' parts.
constexpr microseconds kLookForEnd{100};
constexpr microseconds kNoLook{0};

/// A thread sleeps at once with OMP_WAIT_POLICY=passive, as with OpenMP, and where threads have to
/// share CPUs.
bool may_look(int threads) noexcept {
  static const bool passive = [] {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    return policy != nullptr &&
           (std::strcmp(policy, "passive") == 0 || std::strcmp(policy, "PASSIVE") == 0);
  }();
  return !passive && threads <= machine_threads();
}

void pause_looking() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Waits until `state` is another value, and returns that; sleeps after `look`.
uint32_t wait_while(const std::atomic<uint32_t>& state, uint32_t value,
                    microseconds look) noexcept {
  if (look > kNoLook) {
    const Clock::time_point end = Clock::now() + look;
    do {
      // The clock is asked rarely: it costs as much as a pause.
      for (int i = 0; i < 16; ++i) {
        const uint32_t now = state.load(std::memory_order_acquire);
        if (now != value) return now;
        pause_looking();
      }
    } while (Clock::now() < end);
  }
  state.wait(value, std::memory_order_acquire);
  return state.load(std::memory_order_acquire);
}

/// What a helping thread waits for and does. A loop is offered to it, and withdrawn when its caller
/// is through before the helper has begun: a thread that other processes keep from the CPUs holds
/// nobody up.
class HelpedLoops {
 public:
  explicit HelpedLoops(int number) : number_(number) {}

  void work() noexcept {
    in_loop = true;
    uint32_t state = kIdle;
    while (true) {
      if (phase_of(state) == kIdle)
        state = wait_while(state_, state, look_.load(std::memory_order_relaxed));
      if (phase_of(state) == kEnding) return;
      if (phase_of(state) != kOffered ||
          !state_.compare_exchange_strong(state, state - kOffered + kWorking,
                                          std::memory_order_acq_rel)) {
        continue;
      }
      (*body_)(number_);
      state = next_idle(state);
      set(state);
    }
  }
  /// `soon`: the next loop is expected within kLongLook of this one's end.
  void begin(const Body& body, int threads, bool soon) noexcept {
    body_ = &body;
    look_.store(!may_look(threads) ? kNoLook
                : soon             ? kLongLook
                                   : kShortLook,
                std::memory_order_relaxed);
    set(state_.load(std::memory_order_acquire) + kOffered);
  }
  /// The caller's part is done, and with it all that no helper has begun.
  void wait_for_end(int threads) noexcept {
    uint32_t state = state_.load(std::memory_order_acquire);
    if (phase_of(state) == kOffered &&
        state_.compare_exchange_strong(state, next_idle(state), std::memory_order_acq_rel)) {
      return;
    }
    if (phase_of(state) != kWorking) return;
    wait_while(state_, state, may_look(threads) ? kLookForEnd : kNoLook);
  }
  void end() noexcept { set(kEnding); }

 private:
  /// The lowest bits of a state; the others count loops, so that no two in turn have equal states.
  static constexpr uint32_t kIdle = 0;
  static constexpr uint32_t kOffered = 1;
  static constexpr uint32_t kWorking = 2;
  static constexpr uint32_t kEnding = 3;
  static constexpr uint32_t kPhases = 4;

  static uint32_t phase_of(uint32_t state) noexcept { return state % kPhases; }
  static uint32_t next_idle(uint32_t state) noexcept { return state - phase_of(state) + kPhases; }

  void set(uint32_t state) noexcept {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }

  const int number_;
  const Body* body_ = nullptr;
  std::atomic<microseconds> look_{kShortLook};
  std::atomic<uint32_t> state_{kIdle};
};

class Worker {
 public:
  explicit Worker(int number)
      : loops_(std::make_shared<HelpedLoops>(number)),
        thread_([loops = loops_] { loops->work(); }) {}
  ~Worker() {
    loops_->end();
    if (platform::kEndingThreadsMayWait) {
      thread_.join();
    } else {
      thread_.detach();  // it has its loops for itself
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  HelpedLoops& loops() { return *loops_; }

 private:
  std::shared_ptr<HelpedLoops> loops_;
  std::thread thread_;
};

/// The threads that help one other.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ~ThreadTeam() {
    // After a fork() the threads are not there to be waited for.
    if (!in_forked_child()) return;
    for (auto& worker : workers_) static_cast<void>(worker.release());
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  void run(int threads, const Body& body) {
    grow(threads - 1);
    const size_t helpers = std::min(workers_.size(), static_cast<size_t>(threads - 1));
    const bool soon = Clock::now() - last_end_ < kLongLook;
    for (size_t i = 0; i < helpers; ++i) workers_[i]->loops().begin(body, threads, soon);
    in_loop = true;
    body(0);
    in_loop = false;
    for (size_t i = 0; i < helpers; ++i) workers_[i]->loops().wait_for_end(threads);
    last_end_ = Clock::now();
  }

 private:
  void grow(int helpers) {
    if (workers_.empty() && !platform::kEndingThreadsMayWait) platform::keep_library_loaded();
    try {
      while (std::ssize(workers_) < helpers)
        workers_.push_back(std::make_unique<Worker>(static_cast<int>(workers_.size()) + 1));
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do the work.
    }
  }

  std::vector<std::unique_ptr<Worker>> workers_;
  Clock::time_point last_end_;
};

}  // namespace

int default_threads() noexcept {
  return default_of_thread > 0 ? default_of_thread : initial_threads();
}

void set_default_threads(int threads) noexcept { default_of_thread = threads; }

void run_on_threads(int threads, const std::function<void(int thread)>& body) {
  if (threads <= 1 || in_loop) {
    body(0);
    return;
  }
  thread_local ThreadTeam team;
  team.run(threads, body);
}

}  // namespace polarquant
