// SPDX-License-Identifier: MIT
#include "page_memory.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace polarquant::sqlite {
namespace {

constexpr std::align_val_t kBlock{64};
constexpr size_t kHugePage = size_t{2} << 20;

/// Those that take several huge pages begin with one.
std::align_val_t alignment(size_t bytes) {
  return bytes < 2 * kHugePage ? kBlock : std::align_val_t{kHugePage};
}

}  // namespace

PageMemory::PageMemory(size_t bytes)
    : data_(new (alignment(bytes)) uint8_t[bytes], AlignedDelete{alignment(bytes)}),
      bytes_(bytes) {}

void PageMemory::expect_writes([[maybe_unused]] size_t begin,
                               [[maybe_unused]] size_t end) const noexcept {
#ifdef __linux__
  if (bytes_ < 2 * kHugePage) return;
  // Whole ones: what is not written to takes no memory.
  begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
  end = end / kHugePage * kHugePage;
  // A system that has none, or gives them anyway, says so, and all works the same.
  if (begin < end) static_cast<void>(madvise(data() + begin, end - begin, MADV_HUGEPAGE));
#endif
}

}  // namespace polarquant::sqlite
