// SPDX-License-Identifier: MIT
// std::vector on 64-byte boundaries: a cache line, and the widest vector register there is. Large
// ones ask for huge pages.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace polarquant {

inline constexpr size_t kAlignment = 64;

/// Memory on a 64-byte boundary; throws std::bad_alloc. From 2 MiB on it asks the system for huge
/// pages: with small ones, each row that is read out of order costs a walk through the page tables.
void* allocate_aligned(size_t bytes);
/// `bytes` as given to allocate_aligned.
void free_aligned(void* memory, size_t bytes) noexcept;

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}  // NOLINT: allocators convert implicitly

  T* allocate(size_t n) {
    if (n > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_aligned(n * sizeof(T)));
  }
  void deallocate(T* p, size_t n) noexcept { free_aligned(p, n * sizeof(T)); }
  template <typename U>
  bool operator==(const AlignedAllocator<U>&) const noexcept {
    return true;
  }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace polarquant
