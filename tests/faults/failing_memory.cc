// SPDX-License-Identifier: MIT
#include "tests/faults/failing_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

using polarquant::test::Failing;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
std::atomic<bool> g_on{false};
std::atomic<bool> g_onward{false};
std::atomic<int64_t> g_left{0};  // requests that succeed
std::atomic<bool> g_failed{false};
std::atomic<int64_t> g_out{0};  // bytes
std::atomic<int64_t> g_most{kNoLimit};
std::atomic<int64_t> g_peak{0};

bool is_refused() {
  if (!g_on.load(std::memory_order_relaxed)) return false;
  const int64_t left = g_left.fetch_sub(1, std::memory_order_relaxed);
  if (left > 0 || (left < 0 && !g_onward.load(std::memory_order_relaxed))) return false;
  g_failed = true;
  return true;
}

/// Counts the bytes as taken; false, and they are not, where that is more than the limit.
bool take_bytes(int64_t bytes) {
  const int64_t out = g_out.fetch_add(bytes) + bytes;
  if (out > g_most) {
    g_out -= bytes;
    g_failed = true;
    return false;
  }
  int64_t peak = g_peak;
  while (out > peak && !g_peak.compare_exchange_weak(peak, out)) {
  }
  return true;
}

int64_t size_of(void* memory) { return static_cast<int64_t>(malloc_usable_size(memory)); }

void* allocate(size_t bytes, size_t alignment) noexcept {
  if (bytes > kNoLimit / 2 || is_refused()) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  if (take_bytes(size_of(memory))) return memory;
  std::free(memory);
  return nullptr;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  g_out -= size_of(memory);
  std::free(memory);
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
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }

namespace polarquant::test {

FailingMemory::FailingMemory(int64_t first, Failing failing) {
  g_failed = false;
  g_peak = g_out.load();
  start_ = g_out;
  if (failing == Failing::beyond) {
    if (first < kNoLimit - start_) g_most = start_ + first;
    return;
  }
  g_left = first;
  g_onward = failing == Failing::onward;
  g_on = true;
}
void FailingMemory::stop() {
  g_on = false;
  g_most = kNoLimit;
}
bool FailingMemory::has_failed() const { return g_failed; }
int64_t FailingMemory::peak() const { return g_peak - start_; }

}  // namespace polarquant::test
