// SPDX-License-Identifier: MIT
// Threads that wait for devices: all at once, kept, and shared by callers.
#include "src/device/device_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/core/status.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::device;

namespace {

/// Whether a number that other threads count reaches `wanted` in ten seconds.
bool reaches(const std::atomic<int>& number, int wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (number < wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return number >= wanted;
}

TEST_CASE("parts run at the same time, the first on the caller's thread", "[capi]") {
  DeviceThreads device_threads;
  constexpr int kParts = 6;
  std::atomic<int> running = 0;
  std::atomic<int> met = 0;
  std::vector<std::thread::id> threads(kParts);
  device_threads.run_together(kParts, [&](size_t part) {
    threads[part] = std::this_thread::get_id();
    ++running;
    if (reaches(running, kParts)) ++met;
  });
  CHECK(met == kParts);
  CHECK(threads[0] == std::this_thread::get_id());
  std::sort(threads.begin(), threads.end());
  CHECK(std::unique(threads.begin(), threads.end()) == threads.end());
  device_threads.run_together(0, [](size_t) { FAIL("nothing is to be done"); });
}

TEST_CASE("the first failure by number is thrown, when all have ended", "[capi]") {
  DeviceThreads device_threads;
  const size_t first_failing = GENERATE(0, 1, 3);
  std::atomic<int> failed = 0;
  std::atomic<int> ended = 0;
  const auto body = [&](size_t part) {
    if (part >= first_failing) {
      // Those after fail first.
      if (part == first_failing) reaches(failed, 5 - static_cast<int>(first_failing));
      ++failed;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ++ended;
    require(part < first_failing, StatusCode::cuda, "part {}", part);
  };
  try {
    device_threads.run_together(6, body);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == StatusCode::cuda);
    CHECK(error.what() == "part " + std::to_string(first_failing));
  }
  CHECK(ended == 6);
  // And the next call runs as if nothing had been.
  ended = 0;
  device_threads.run_together(6, [&](size_t) { ++ended; });
  CHECK(ended == 6);
}

TEST_CASE("threads are kept from call to call", "[capi]") {
  DeviceThreads device_threads;
  std::set<std::thread::id> seen;
  std::mutex mutex;
  for (int call = 0; call < 20; ++call) {
    device_threads.run_together(3, [&](size_t) {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  CHECK(seen.size() <= 3);
}

TEST_CASE("callers at the same time all have threads of their own", "[capi]") {
  DeviceThreads device_threads;
  constexpr int kCallers = 4;
  constexpr int kParts = 3;
  std::atomic<int> running = 0;
  std::atomic<int> met = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      device_threads.run_together(kParts, [&](size_t) {
        ++running;
        if (reaches(running, kCallers * kParts)) ++met;
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(met == kCallers * kParts);
}

}  // namespace
