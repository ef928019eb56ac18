// SPDX-License-Identifier: MIT
// operator new of a test program, which fails when it is told to, in whatever thread, and counts
// what is out.
#pragma once

#include <cstdint>

namespace polarquant::test {

enum class Failing {
  once,    // one request alone
  onward,  // and all after it
  beyond   // those that would have more bytes out than there may be
};

class FailingMemory {
 public:
  /// first: how many requests succeed before; beyond: how many bytes more than now may be out. For
  /// all threads, until stop() or the end.
  FailingMemory(int64_t first, Failing failing);
  ~FailingMemory() { stop(); }
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  void stop();
  /// Whether any request was refused.
  bool has_failed() const;
  /// The most that was out, of what came since the construction.
  int64_t peak() const;

 private:
  int64_t start_ = 0;
};

}  // namespace polarquant::test
