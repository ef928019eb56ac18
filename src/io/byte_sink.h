// SPDX-License-Identifier: MIT
// Where the bytes of a file go, in order.
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
