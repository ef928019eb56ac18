// SPDX-License-Identifier: MIT
#include "src/core/aligned_buffer.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace polarquant {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;

std::align_val_t alignment_for(size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : kAlignment};
}

}  // namespace

void* allocate_aligned(size_t bytes) {
  void* memory = ::operator new(bytes, alignment_for(bytes));
#ifdef __linux__
  // Only a request: where the system refuses it, pages stay small.
  if (bytes >= kHugePage) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return memory;
}

void free_aligned(void* memory, size_t bytes) noexcept {
  ::operator delete(memory, alignment_for(bytes));
}

}  // namespace polarquant
