// SPDX-License-Identifier: MIT
// operator new of a test program whose i-th request fails, in whatever thread it comes.
#pragma once

#include <cstdint>

namespace polarquant::test {

enum class Failing {
  once,   // that request alone
  onward  // and all after it
};

class FailingMemory {
 public:
  /// first: how many requests succeed before. For all threads, until stop() or the end.
  FailingMemory(int64_t first, Failing failing);
  ~FailingMemory() { stop(); }
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  void stop();
  /// Whether any request was refused.
  bool has_failed() const;
};

}  // namespace polarquant::test
