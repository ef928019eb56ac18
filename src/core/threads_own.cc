// SPDX-License-Identifier: MIT
// Teams of std::thread, in the place of OpenMP's.
#include <algorithm>
#include <atomic>
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

/// How often a thread looks for its next loop, or for a loop's end, before it sleeps: some 100
/// microseconds, since waking it takes as long as a search. With OMP_WAIT_POLICY=passive, as with
/// OpenMP, and where threads have to share CPUs, it sleeps at once.
int spins(int threads) noexcept {
  static const bool passive = [] {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    return policy != nullptr &&
           (std::strcmp(policy, "passive") == 0 || std::strcmp(policy, "PASSIVE") == 0);
  }();
  constexpr int kSpins = 10000;
  return passive || threads > machine_threads() ? 0 : kSpins;
}

void pause_spinning() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Waits until `state` is another value, and returns that.
uint32_t wait_while(const std::atomic<uint32_t>& state, uint32_t value, int most_spins) noexcept {
  for (int i = 0; i < most_spins; ++i) {
    const uint32_t now = state.load(std::memory_order_acquire);
    if (now != value) return now;
    pause_spinning();
  }
  state.wait(value, std::memory_order_acquire);
  return state.load(std::memory_order_acquire);
}

/// What a helping thread waits for and does.
class HelpedLoops {
 public:
  explicit HelpedLoops(int number) : number_(number) {}

  void work() noexcept {
    in_loop = true;
    int threads = 1;
    while (wait_while(state_, kIdle, spins(threads)) == kWorking) {
      threads = threads_;
      (*body_)(number_);
      set(kIdle);
    }
  }
  void begin(const Body& body, int threads) noexcept {
    body_ = &body;
    threads_ = threads;
    set(kWorking);
  }
  void wait_for_end(int threads) noexcept { wait_while(state_, kWorking, spins(threads)); }
  void end() noexcept { set(kEnding); }

 private:
  static constexpr uint32_t kIdle = 0;
  static constexpr uint32_t kWorking = 1;
  static constexpr uint32_t kEnding = 2;

  void set(uint32_t state) noexcept {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }

  const int number_;
  const Body* body_ = nullptr;
  int threads_ = 1;
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
    for (size_t i = 0; i < helpers; ++i) workers_[i]->loops().begin(body, threads);
    in_loop = true;
    body(0);
    in_loop = false;
    for (size_t i = 0; i < helpers; ++i) workers_[i]->loops().wait_for_end(threads);
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
