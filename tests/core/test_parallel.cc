// SPDX-License-Identifier: MIT
#include "src/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "src/core/call_threads.h"
#include "tests/support/catch.h"

using polarquant::CallThreads;
using polarquant::parallel_for;
using polarquant::thread_count;

TEST_CASE("a thread count is what was asked for, at most the iterations, at least 1", "[core]") {
  CHECK(thread_count(3, 100) == 3);
  CHECK(thread_count(8, 5) == 5);
  CHECK(thread_count(8, 0) == 1);
  CHECK(thread_count(0, 1) == 1);
  CHECK(thread_count(0, 1000000) >= 1);
}

TEST_CASE("parallel_for visits each index once, on thread numbers below the count", "[core]") {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t iterations : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(iterations));
      std::atomic<bool> thread_in_range{true};
      parallel_for(iterations, threads, [&](int64_t i, int thread) {
        visits[static_cast<size_t>(i)].fetch_add(1);
        if (thread < 0 || thread >= threads) thread_in_range = false;
      });
      CHECK(thread_in_range);
      for (const auto& count : visits) REQUIRE(count == 1);
    }
  }
}

TEST_CASE("an exception of the body reaches the caller and stops new iterations", "[core]") {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls{0};
    std::atomic<bool> thrown{false};
    try {
      parallel_for(1000000, threads, [&](int64_t i, int) {
        calls.fetch_add(1);
        if (i == 17) {
          thrown = true;
          throw std::runtime_error("row 17");
        }
        // The thread that throws may have to wait for a processor.
        if (thrown) std::this_thread::sleep_for(std::chrono::microseconds(10));
      });
      FAIL("no exception");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "row 17");
    }
    CHECK(calls < 1000000);
  }
  // Every iteration throws: exactly one exception arrives.
  CHECK_THROWS_AS(parallel_for(64, 4, [](int64_t, int) { throw std::logic_error("each"); }),
                  std::logic_error);
  // And the next loop runs as if nothing had been.
  std::atomic<int> calls{0};
  parallel_for(64, 4, [&](int64_t, int) { calls.fetch_add(1); });
  CHECK(calls == 64);
}

TEST_CASE("loops inside loops, and of many threads at once, visit each index once", "[core]") {
  std::atomic<int> inner{0};
  parallel_for(
      16, 3, [&](int64_t, int) { parallel_for(10, 4, [&](int64_t, int) { inner.fetch_add(1); }); });
  CHECK(inner == 160);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 200; ++loop)
        parallel_for(7, 1 + loop % 4, [&](int64_t, int) { calls.fetch_add(1); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(calls == 6 * 200 * 7);
}

TEST_CASE("loops visit each index once, whether their threads are awake, asleep or late",
          "[core]") {
  for (int loop = 0; loop < 600; ++loop) {
    // More threads than most machines have CPUs: some are withdrawn before they begin.
    const int threads = loop % 2 == 0 ? 2 : 16;
    std::vector<int> visits(static_cast<size_t>(loop % 33));
    parallel_for(std::ssize(visits), threads,
                 [&](int64_t i, int) { ++visits[static_cast<size_t>(i)]; });
    CHECK(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }));
    if (loop % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(loop * 5));
  }
}

TEST_CASE("a thread that ends takes the threads of its loops with it", "[core]") {
  const auto threads_of_process = []() -> std::ptrdiff_t {
    std::error_code not_linux;
    const std::filesystem::directory_iterator tasks("/proc/self/task", not_linux);
    return std::distance(begin(tasks), end(tasks));
  };
  // Where they cannot be counted, all of these still have to end.
  const auto call = [] { std::thread([] { parallel_for(8, 4, [](int64_t, int) {}); }).join(); };
  call();
  const auto before = threads_of_process();
  for (int i = 0; i < 1000; ++i) call();
  // A thread that has ended may be listed for a moment.
  for (int tries = 0; tries < 1000 && threads_of_process() > before; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(threads_of_process() <= before);
}

TEST_CASE("the number of threads of a call holds for its thread alone", "[core]") {
  const int before = thread_count(0, 1000);
  {
    const CallThreads three(3);
    CHECK(thread_count(0, 1000) == 3);
    {
      const CallThreads two(2);
      CHECK(thread_count(0, 1000) == 2);
      int other = 0;
      std::thread([&] { other = thread_count(0, 1000); }).join();
      CHECK(other == before);
    }
    CHECK(thread_count(0, 1000) == 3);
  }
  CHECK(thread_count(0, 1000) == before);
}
