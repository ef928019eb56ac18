// SPDX-License-Identifier: MIT
#include "tests/faults/failing_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> g_on{false};
std::atomic<bool> g_onward{false};
std::atomic<int64_t> g_left{0};  // requests that succeed
std::atomic<bool> g_failed{false};

bool is_refused() {
  if (!g_on.load(std::memory_order_relaxed)) return false;
  const int64_t left = g_left.fetch_sub(1, std::memory_order_relaxed);
  if (left > 0 || (left < 0 && !g_onward.load(std::memory_order_relaxed))) return false;
  g_failed = true;
  return true;
}

void* allocate(size_t bytes, size_t alignment) noexcept {
  if (is_refused()) return nullptr;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) == 0 ? memory : nullptr;
}

void* allocate_or_throw(size_t bytes, size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return allocate_or_throw(bytes, 16); }
void* operator new[](size_t bytes) { return allocate_or_throw(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 16); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace polarquant::test {

FailingMemory::FailingMemory(int64_t first, Failing failing) {
  g_left = first;
  g_onward = failing == Failing::onward;
  g_failed = false;
  g_on = true;
}
void FailingMemory::stop() { g_on = false; }
bool FailingMemory::has_failed() const { return g_failed; }

}  // namespace polarquant::test
