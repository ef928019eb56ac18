// SPDX-License-Identifier: MIT
// A file's bytes in memory as the system maps them, read-only. The file must keep its length: when
// someone shortens it, reading past its new end stops the process (SIGBUS), as with every mapped
// file. Replacing it by a new file of its name is fine; Windows refuses both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace polarquant {

class MappedFile {
 public:
  /// Throws io when it cannot be opened or mapped, corrupt_data when it is empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// On a page boundary.
  const uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// Takes its pages out of the process's memory; they come back as they are read. For files that
  /// are read through once: they would else count as memory of whoever reads them.
  void release_pages() const;
  /// These bytes are read one here, one there: the system then reads no more than is asked for.
  void expect_scattered(size_t offset, size_t bytes) const;
  /// Begins to read these bytes from the disk, where they are not in memory.
  void read_ahead(size_t offset, size_t bytes) const;
  /// Whether the page of this byte is in memory.
  bool is_resident(size_t offset) const;

 private:
  const uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace polarquant
