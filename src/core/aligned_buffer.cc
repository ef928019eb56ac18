// SPDX-License-Identifier: MIT
#include "src/core/aligned_buffer.h"

#include <cstdint>

#include "src/core/platform/platform.h"

namespace polarquant {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kEndsAreWatched = true;
#elif defined(__has_feature)
constexpr bool kEndsAreWatched = __has_feature(address_sanitizer);
#else
constexpr bool kEndsAreWatched = false;
#endif

/// Pieces up to this size have 64 bytes more, where their start is kept: one query takes ten
/// pieces, and the C library's aligned ones, which it cuts out of larger ones whose ends it gives
/// back, take three times as long (docs/dev/tuning.md, "Memory"). Not where a sanitizer watches
/// their ends.
constexpr size_t kMostPadded = kEndsAreWatched ? 0 : size_t{1} << 16;

static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(void*));

void* allocate_padded(size_t bytes) {
  void* start = ::operator new(bytes + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(start);
  auto* memory = static_cast<char*>(start) + (kAlignment - address % kAlignment);
  reinterpret_cast<void**>(memory)[-1] = start;
  return memory;
}

std::align_val_t alignment_for(size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : kAlignment};
}

}  // namespace

void* allocate_aligned(size_t bytes) {
  if (bytes <= kMostPadded) return allocate_padded(bytes);
  void* memory = ::operator new(bytes, alignment_for(bytes));
  if (bytes >= kHugePage) platform::ask_for_huge_pages(memory, bytes);
  return memory;
}

void free_aligned(void* memory, size_t bytes) noexcept {
  if (bytes <= kMostPadded) {
    ::operator delete(static_cast<void**>(memory)[-1]);
  } else {
    ::operator delete(memory, alignment_for(bytes));
  }
}

}  // namespace polarquant
