// SPDX-License-Identifier: MIT
#include "src/io/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/core/status.h"
#include "src/io/system_file.h"

namespace polarquant {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// What the system refuses costs time alone.
void advise(const uint8_t* data, size_t offset, size_t bytes, int advice) {
  const size_t begin = offset / page_bytes() * page_bytes();
  static_cast<void>(madvise(const_cast<uint8_t*>(data) + begin, offset + bytes - begin, advice));
}

/// What mincore writes for each page.
#ifdef __APPLE__
using PageState = char;
#else
using PageState = unsigned char;
#endif

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const SystemFile file(path, SystemFile::Opening::read);
  bytes_ = file.bytes();
  require(bytes_ > 0, StatusCode::corrupt_data, "{}: is empty; it is no index file", path);
  void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, static_cast<int>(file.handle()), 0);
  if (mapped == MAP_FAILED) fail_by_system(path, "map");
  data_ = static_cast<const uint8_t*>(mapped);
}

// What the system refuses costs memory alone.
void MappedFile::release_pages() const {
  static_cast<void>(madvise(const_cast<uint8_t*>(data_), bytes_, MADV_DONTNEED));
}

void MappedFile::expect_scattered(size_t offset, size_t bytes) const {
  advise(data_, offset, bytes, MADV_RANDOM);
}

void MappedFile::read_ahead(size_t offset, size_t bytes) const {
  advise(data_, offset, bytes, MADV_WILLNEED);
}

bool MappedFile::is_resident(size_t offset) const {
  PageState resident = 0;
  const size_t begin = offset / page_bytes() * page_bytes();
  return mincore(const_cast<uint8_t*>(data_) + begin, 1, &resident) != 0 || (resident & 1) != 0;
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t*>(data_), bytes_); }

}  // namespace polarquant
