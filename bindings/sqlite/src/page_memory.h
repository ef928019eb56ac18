// SPDX-License-Identifier: MIT
// The memory that the pages of a table lie in. The system gives it piece by piece, when it is
// written to first; where much of it will be, pieces of 2 MiB in place of 4 KiB save most of the
// time that takes, which would be a good part of a first search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace polarquant::sqlite {

struct AlignedDelete {
  std::align_val_t alignment{1};
  void operator()(uint8_t* data) const { ::operator delete[](data, alignment); }
};

class PageMemory {
 public:
  PageMemory() = default;
  /// On a boundary of a block. Throws std::bad_alloc.
  explicit PageMemory(size_t bytes);

  uint8_t* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

  /// All bytes from begin to end are about to be written.
  void expect_writes(size_t begin, size_t end) const noexcept;

 private:
  std::unique_ptr<uint8_t[], AlignedDelete> data_;
  size_t bytes_ = 0;
};

}  // namespace polarquant::sqlite
