/* SPDX-License-Identifier: MIT
 * Included before FAISS's sources and before ours that use them, on Windows: what FAISS has for
 * Microsoft's compiler alone, since it takes every other one for a POSIX system's. */
#ifdef __cplusplus
#include <errno.h>
#include <malloc.h>
#include <stddef.h>

#include <faiss/impl/platform_macros.h>

inline int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = _aligned_malloc(bytes, alignment);
  return *memory != nullptr ? 0 : ENOMEM;
}
#undef posix_memalign_free
#define posix_memalign_free _aligned_free
#endif
