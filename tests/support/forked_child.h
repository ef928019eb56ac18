// SPDX-License-Identifier: MIT
// Runs a check in a fork()ed child and tells how it ended; a child that hangs is killed. Where
// there is no fork(), on Windows, the check runs in this process.
#pragma once

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace polarquant::test {

enum class ChildEnd { right, wrong, hung };

#ifdef _WIN32

inline ChildEnd run_in_child(const std::function<bool()>& check) {
  return check() ? ChildEnd::right : ChildEnd::wrong;
}

#else

inline ChildEnd run_in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    bool right = false;
    try {
      right = check();
    } catch (...) {
    }
    _exit(right ? 0 : 1);  // no test framework and no destructors in the child
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return ChildEnd::hung;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ChildEnd::right : ChildEnd::wrong;
}

#endif

}  // namespace polarquant::test
