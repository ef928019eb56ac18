// SPDX-License-Identifier: MIT
// Operators new and delete of a self-contained library for macOS. Those of the C++ library inside
// it would be exported, weak, and macOS takes one definition of each for a whole process: ours
// would then be everyone's, or another library's be ours. These are hidden, by the option
// that CMakeLists.txt gives this file, and the linker takes none of the others.
//
// No new_handler is asked: a program's handler is that of its own C++ library, and cannot be seen
// from here.
#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

void* memory_of(size_t bytes) noexcept { return std::malloc(std::max<size_t>(bytes, 1)); }

void* aligned_memory_of(size_t bytes, std::align_val_t alignment) noexcept {
  void* memory = nullptr;
  const size_t aligned = std::max(static_cast<size_t>(alignment), sizeof(void*));
  return posix_memalign(&memory, aligned, std::max<size_t>(bytes, 1)) == 0 ? memory : nullptr;
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

using Alignment = std::align_val_t;
using NoThrow = std::nothrow_t;

void* operator new(size_t bytes) { return checked(memory_of(bytes)); }
void* operator new[](size_t bytes) { return checked(memory_of(bytes)); }
void* operator new(size_t bytes, const NoThrow&) noexcept { return memory_of(bytes); }
void* operator new[](size_t bytes, const NoThrow&) noexcept { return memory_of(bytes); }
void* operator new(size_t bytes, Alignment alignment) {
  return checked(aligned_memory_of(bytes, alignment));
}
void* operator new[](size_t bytes, Alignment alignment) {
  return checked(aligned_memory_of(bytes, alignment));
}
void* operator new(size_t bytes, Alignment alignment, const NoThrow&) noexcept {
  return aligned_memory_of(bytes, alignment);
}
void* operator new[](size_t bytes, Alignment alignment, const NoThrow&) noexcept {
  return aligned_memory_of(bytes, alignment);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const NoThrow&) noexcept { std::free(memory); }
void operator delete[](void* memory, const NoThrow&) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment, const NoThrow&) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment, const NoThrow&) noexcept { std::free(memory); }
