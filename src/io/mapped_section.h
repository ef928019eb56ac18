// SPDX-License-Identifier: MIT
// A data section used where it lies in a mapped file. Its chunks are verified when they are first
// asked for, once.
//
// Threads: all functions may run at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/io/mapped_file.h"
#include "src/io/section_format.h"

namespace polarquant {

class MappedSection {
 public:
  /// sums: of the section's chunks, verified before.
  MappedSection(std::shared_ptr<const MappedFile> file, const SectionEntry& entry,
                std::vector<uint64_t> sums);

  /// On a page boundary. Bytes may be used once require_intact has passed for them.
  const uint8_t* data() const { return file_->data() + entry_.offset; }
  size_t bytes() const { return static_cast<size_t>(entry_.bytes); }

  /// Throws corrupt_data, naming section and chunk, unless these bytes are what was written.
  void require_intact(size_t offset, size_t bytes) const;
  /// The same for all bytes; costs one comparison when they are verified already.
  void require_intact() const;
  /// As MappedFile's, of bytes of the section.
  void expect_scattered() const;
  void read_ahead(size_t offset, size_t bytes) const;
  bool is_resident(size_t offset) const;
  /// Reads and verifies all bytes again.
  void verify_anew() const;

 private:
  void require_chunk(size_t chunk) const;

  std::shared_ptr<const MappedFile> file_;
  SectionEntry entry_;
  std::vector<uint64_t> sums_;
  mutable std::vector<std::atomic<uint8_t>> intact_;  // by chunk
  mutable std::atomic<bool> all_intact_{false};
};

}  // namespace polarquant
