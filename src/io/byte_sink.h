// SPDX-License-Identifier: MIT
// Where bytes of a file go, one behind the other.
#pragma once

#include <cstddef>

namespace polarquant {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Throws io when the bytes cannot be written.
  virtual void write(const void* data, size_t bytes) = 0;
};

}  // namespace polarquant
