// SPDX-License-Identifier: MIT
// operator new of a test program that refuses requests above a limit, and remembers that it did.
#pragma once

#include <cstddef>

namespace polarquant::test {

class LimitedMemory {
 public:
  /// For all threads, as long as the object lives.
  explicit LimitedMemory(size_t largest_request);
  ~LimitedMemory();
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;

  /// The largest request that was refused; 0: none.
  size_t refused() const;
};

}  // namespace polarquant::test
