// SPDX-License-Identifier: MIT
#include "src/core/turn_lock.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "src/core/status.h"
#include "src/core/work_progress.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// Waits until it holds, which it will.
template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

/// Enough for another thread to come to wait.
void give_time() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

TEST_CASE("readers go together, and a change alone", "[core][turns]") {
  TurnLock lock;
  int64_t value = 0;  // not atomic: what is under test keeps it whole
  int64_t copy = 0;
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const Reading reading(lock);
        if (value != copy) ++wrong;
      }
    });
  }
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      for (int change = 0; change < 2000; ++change) {
        Changing changing(lock);
        if (change % 3 == 0 && value != copy) ++wrong;  // beside readers
        changing.wait_for_readers();
        ++value;
        ++copy;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(value == 4000);
}

TEST_CASE("a change begins beside readers, and waits for them later", "[core][turns]") {
  TurnLock lock;
  std::atomic<int> step{0};
  std::thread writer;
  {
    const Reading reading(lock);
    writer = std::thread([&] {
      Changing changing(lock);
      step = 1;
      changing.wait_for_readers();
      step = 2;
    });
    wait_until([&] { return step == 1; });
    give_time();
    CHECK(step == 1);
  }
  writer.join();
  CHECK(step == 2);
}

TEST_CASE("a change that waits for readers can be stopped", "[core][turns]") {
  TurnLock lock;
  std::atomic<bool> stop{false};
  std::atomic<int> asked{0};
  std::atomic<bool> stopped{false};
  {
    const Reading reading(lock);
    std::thread writer([&] {
      const std::function<bool(double)> report = [&](double) {
        ++asked;
        return !stop;
      };
      WorkProgress work(report, "change");
      try {
        Changing changing(lock);
        changing.wait_for_readers();
      } catch (const Error&) {
        stopped = true;
      }
    });
    wait_until([&] { return asked >= 2; });
    stop = true;
    wait_until([&] { return stopped.load(); });
    writer.join();
  }
  // Nothing is left behind.
  const Reading reading(lock);
  std::thread([&] {
    { const Reading beside(lock); }
    Changing changing(lock);
  }).join();
}

TEST_CASE("readers and changes take turns", "[core][turns]") {
  TurnLock lock;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> changes{0};
  // A change that comes again at once lets the readers in between.
  std::thread writer([&] {
    while (!stop) {
      Changing changing(lock);
      changing.wait_for_readers();
      ++changes;
    }
  });
  wait_until([&] { return changes > 0; });
  for (int i = 0; i < 1000; ++i) const Reading reading(lock);
  stop = true;
  writer.join();

  // Readers that come again at once let a change in.
  stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) const Reading reading(lock);
    });
  }
  for (int i = 0; i < 200; ++i) {
    Changing changing(lock);
    changing.wait_for_readers();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_CASE("changes go in the order they came", "[core][turns]") {
  TurnLock lock;
  std::vector<int> order;
  std::vector<std::thread> writers;
  {
    Changing changing(lock);
    for (int i = 0; i < 4; ++i) {
      std::atomic<bool> started{false};
      writers.emplace_back([&, i] {
        started = true;
        Changing next(lock);
        order.push_back(i);
      });
      wait_until([&] { return started.load(); });
      give_time();
    }
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(order == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("calls from inside a call", "[core][turns]") {
  TurnLock lock;
  TurnLock other;
  std::thread writer;
  {
    const Reading reading(lock);
    std::atomic<bool> waits{false};
    writer = std::thread([&] {
      Changing changing(lock);
      waits = true;
      changing.wait_for_readers();
    });
    wait_until([&] { return waits.load(); });
    give_time();
    const Reading inside(lock);  // would wait for the change, and that for the outer one
    std::thread([&] {
      const InsideCall callback(&lock);  // a callback in a thread of the call's
      const Reading reading_too(lock);
    }).join();
    CHECK_THROWS_AS(Changing(lock), Error);
    Changing changing_other(other);
    changing_other.wait_for_readers();
    const Reading inside_other(other);
  }
  writer.join();
  CHECK(!InsideCall::is_inside(&lock));
}
