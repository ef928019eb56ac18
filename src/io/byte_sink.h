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

  /// Whether overwrite_begin is there.
  virtual bool can_overwrite() const { return false; }
  /// Puts these bytes in the place of the first ones, of which at least so many were written.
  virtual void overwrite_begin(const void* /*data*/, size_t /*bytes*/) {}
};

}  // namespace polarquant
