// SPDX-License-Identifier: MIT
// Children of fork(), which have none of their parent's threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "src/core/parallel.h"
#include "src/core/turn_lock.h"
#include "tests/support/catch.h"

using namespace polarquant;

TEST_CASE("a forked child runs its loops without hanging, after the parent used threads",
          "[core]") {
  std::atomic<int> warm{0};
  parallel_for(64, 4, [&](int64_t, int) { warm.fetch_add(1); });
  REQUIRE(warm == 64);

  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang ends the child by a signal, which the parent sees
    const int threads = thread_count(4, 64);
    int calls = 0;
    parallel_for(64, threads, [&](int64_t, int) { ++calls; });
    _exit(threads == 1 && calls == 64 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(thread_count(4, 64) == 4);  // the parent keeps its threads
}

TEST_CASE("a forked child does not wait for threads of its parent", "[core][turns]") {
  TurnLock lock;
  std::atomic<bool> holds{false};
  std::atomic<bool> stop{false};
  std::thread holder([&] {
    Changing changing(lock);
    changing.wait_for_readers();
    holds = true;
    while (!stop) std::this_thread::yield();
  });
  while (!holds) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    { const Reading reading(lock); }
    {
      Changing changing(lock);
      changing.wait_for_readers();
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  stop = true;
  holder.join();
  const Reading reading(lock);
}
