// SPDX-License-Identifier: MIT
// What the fuzz targets share. A target defines LLVMFuzzerTestOneInput: any bytes are fine, errors
// are fine, and what must never be ends the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

namespace polarquant::fuzz {

/// Prints the text and ends the process.
[[noreturn]] void found(const std::string& what);
void expect(bool holds, const std::string& what);
std::string last_error();
/// A call may fail for any reason but a bug of ours. Returns whether it worked.
bool allow_failure(const char* call, polar_status status);
/// A call that must work.
void expect_ok(const char* call, polar_status status);

/// (n, dim) numbers between −1 and 1.
std::vector<float> rows_of(int64_t n, int dim, uint64_t seed);

/// The bytes of an input, taken from its front.
class Input {
 public:
  Input(const uint8_t* data, size_t bytes) : at_(data), left_(bytes) {}

  size_t left() const { return left_; }
  const uint8_t* data() const { return at_; }
  /// 0 where there are no more.
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  /// One of the values of an array.
  template <typename T, size_t N>
  T one_of(const T (&values)[N]) {
    return values[byte() % N];
  }
  std::string remaining_text() const { return {reinterpret_cast<const char*>(at_), left_}; }
  std::vector<uint8_t> take(size_t bytes) {
    const size_t count = std::min(bytes, left_);
    std::vector<uint8_t> taken(at_, at_ + count);
    at_ += count;
    left_ -= count;
    return taken;
  }

 private:
  const uint8_t* at_;
  size_t left_;
};

/// What operator new may have given out and not got back while this object lives, on top of what
/// was out before; more is refused by std::bad_alloc.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t bytes);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Whether anything was refused.
  bool was_exceeded() const;
};

inline constexpr size_t kMiB = size_t{1} << 20;

}  // namespace polarquant::fuzz
