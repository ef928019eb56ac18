// SPDX-License-Identifier: MIT
// Reads a file of sections (section_format.h) front to back, from any source, or from a mapped
// file, whose data sections then need not be copied.
//
// Nothing is trusted: sizes are checked against what the file has before memory is taken for them,
// or, where the source does not say how much it has, memory grows with what has come. Bytes that
// lie between sections must be 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/core/checksum.h"
#include "src/core/status.h"
#include "src/io/byte_source.h"
#include "src/io/mapped_section.h"
#include "src/io/section_format.h"

namespace polarquant {

class SectionReader {
 public:
  /// Reads header, table and checksums. Throws corrupt_data, newer_format, io.
  explicit SectionReader(std::unique_ptr<ByteSource> source);
  explicit SectionReader(std::shared_ptr<const MappedFile> file);

  /// The file's format version.
  uint32_t version() const { return version_; }
  bool is_mapped() const { return file_ != nullptr; }
  bool at_end() const { return next_ == table_.size(); }
  /// The kind of the next section; throws corrupt_data at the end.
  SectionKind next_kind() const { return next_entry().kind; }
  uint64_t next_bytes() const { return next_entry().bytes; }

  /// The next section, which must be a small one of this kind.
  std::vector<uint8_t> read_small(SectionKind kind);

  /// Begins the next section, which must be a data section of this kind, and returns its size. All
  /// of its bytes must then be taken by read_data; a chunk is verified when its last byte is taken.
  uint64_t begin_data(SectionKind kind);
  void read_data(void* into, size_t bytes);
  /// The same into a vector that grows by `count` items as bytes come.
  template <typename Vector>
  void append_data(Vector& into, uint64_t count);
  /// The `count` numbers that the next section, a data section of this kind, consists of.
  template <typename T>
  std::vector<T> read_array(SectionKind kind, uint64_t count);
  /// The whole of the next section, a data section of this kind.
  AlignedVector<uint8_t> read_whole(SectionKind kind);

  /// The next section, a data section of this kind, left where it is. Needs is_mapped().
  std::shared_ptr<const MappedSection> map_data(SectionKind kind);

  /// Throws corrupt_data unless every section was read.
  void expect_end() const;

 private:
  const SectionEntry& next_entry() const;
  const SectionEntry& take(SectionKind kind, SectionPlace place);
  void read_header();
  void skip_padding(uint64_t offset);
  void read(void* into, size_t bytes);
  std::vector<uint8_t> read_growing(uint64_t bytes);
  void end_chunk();

  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<const MappedFile> file_;
  uint32_t version_ = 0;
  bool knows_size_ = false;
  uint64_t position_ = 0;
  std::vector<SectionEntry> table_;
  size_t next_ = 0;
  std::vector<uint64_t> sums_;  // of all data sections' chunks
  size_t next_sum_ = 0;
  // The data section that is being read.
  SectionEntry data_;
  uint64_t data_read_ = 0;
  StreamingChecksum chunk_;
};

/// Memory taken before the bytes for it have come, where a source does not tell its size.
inline constexpr uint64_t kGrowthBytes = uint64_t{16} << 20;

template <typename Vector>
void SectionReader::append_data(Vector& into, uint64_t count) {
  constexpr uint64_t kItemBytes = sizeof(typename Vector::value_type);
  require(count <= (data_.bytes - data_read_) / kItemBytes, StatusCode::corrupt_data,
          "index file: section {} has {} bytes left; {} times {} are needed",
          print_kind(data_.kind), data_.bytes - data_read_, count, kItemBytes);
  if (knows_size_) into.reserve(into.size() + count);
  while (count > 0) {
    const uint64_t most =
        knows_size_ ? count : std::max<uint64_t>(kGrowthBytes / kItemBytes, into.size());
    const auto items = static_cast<size_t>(std::min(count, most));
    into.resize(into.size() + items);
    read_data(into.data() + (into.size() - items), items * kItemBytes);
    count -= items;
  }
}

template <typename T>
std::vector<T> SectionReader::read_array(SectionKind kind, uint64_t count) {
  const uint64_t bytes = begin_data(kind);
  require(bytes % sizeof(T) == 0 && bytes / sizeof(T) == count, StatusCode::corrupt_data,
          "index file: section {} has {} bytes; {} numbers of {} bytes are needed",
          print_kind(kind), bytes, count, sizeof(T));
  std::vector<T> numbers;
  append_data(numbers, count);
  return numbers;
}

}  // namespace polarquant
