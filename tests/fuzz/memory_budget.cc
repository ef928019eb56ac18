// SPDX-License-Identifier: MIT
// operator new of the fuzz targets, which counts what is out.
#include <malloc.h>

#include <atomic>
#include <new>

#include "tests/fuzz/fuzz.h"

namespace {

std::atomic<int64_t> g_out{0};
std::atomic<int64_t> g_most{INT64_MAX};
std::atomic<bool> g_exceeded{false};

void* allocate(size_t bytes, size_t alignment) {
  const int64_t most = g_most.load(std::memory_order_relaxed);
  if (bytes > INT64_MAX / 2 ||
      g_out.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes) > most) {
    g_exceeded = true;
    return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  g_out.fetch_add(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

void* allocate_or_throw(size_t bytes, size_t alignment = 16) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  g_out.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }

namespace polarquant::fuzz {

MemoryBudget::MemoryBudget(size_t bytes) {
  g_exceeded = false;
  g_most = g_out + static_cast<int64_t>(bytes);
}
MemoryBudget::~MemoryBudget() { g_most = INT64_MAX; }
bool MemoryBudget::was_exceeded() const { return g_exceeded; }

}  // namespace polarquant::fuzz
