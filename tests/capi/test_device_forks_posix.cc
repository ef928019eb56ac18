// SPDX-License-Identifier: MIT
// A child of fork() has no threads that wait for devices.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "src/device/device_threads.h"
#include "tests/support/catch.h"

using namespace polarquant::device;

TEST_CASE("a forked child does what is asked without threads, and ends", "[capi]") {
  auto device_threads = std::make_unique<DeviceThreads>();
  std::atomic<int> calls = 0;
  const auto body = [&](size_t) { ++calls; };
  device_threads->run_together(4, body);
  REQUIRE(calls == 4);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang ends the child by a signal, which the parent sees
    device_threads->run_together(4, body);
    device_threads.reset();
    _exit(calls == 8 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
