// SPDX-License-Identifier: MIT
#include "src/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "src/core/status.h"
#include "src/io/posix_file.h"

namespace polarquant {

MappedFile::MappedFile(const std::string& path) {
  const PosixFile file(path, O_RDONLY, "open");
  bytes_ = file.bytes();
  require(bytes_ > 0, StatusCode::corrupt_data, "{}: is empty; it is no index file", path);
  void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED) fail_with_errno(path, "map");
  data_ = static_cast<const uint8_t*>(mapped);
}

// What the system refuses costs memory alone.
void MappedFile::release_pages() const {
  static_cast<void>(madvise(const_cast<uint8_t*>(data_), bytes_, MADV_DONTNEED));
}

MappedFile::~MappedFile() { munmap(const_cast<uint8_t*>(data_), bytes_); }

}  // namespace polarquant
