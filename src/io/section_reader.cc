// SPDX-License-Identifier: MIT
#include "src/io/section_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace polarquant {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;

}  // namespace

SectionReader::SectionReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  read_header();
}

SectionReader::SectionReader(std::shared_ptr<const MappedFile> file)
    : source_(memory_source(file->data(), file->bytes())), file_(std::move(file)) {
  read_header();
}

void SectionReader::read_header() {
  uint8_t header[kHeaderBytes];
  read(header, sizeof header);
  const FileHeader read_header = parse_header(header);
  version_ = read_header.version;
  const std::optional<uint64_t> total = source_->total_bytes();
  knows_size_ = total.has_value();
  require(!knows_size_ || *total == read_header.file_bytes, StatusCode::corrupt_data,
          "index file: it has {} bytes; its header says {}", total.value_or(0),
          read_header.file_bytes);
  const uint64_t table_bytes = read_header.sections * kTableEntryBytes;
  require(table_bytes <= read_header.file_bytes, StatusCode::corrupt_data,
          "index file: a table of {} sections does not fit its {} bytes", read_header.sections,
          read_header.file_bytes);
  const std::vector<uint8_t> table = read_growing(table_bytes);
  table_ = parse_table(header, table.data());
  const std::vector<uint8_t> sums = read_small(kChecksums);
  sums_.resize(sums.size() / sizeof(uint64_t));
  if (!sums.empty()) std::memcpy(sums_.data(), sums.data(), sums.size());
  size_t first = 0;
  for (const SectionEntry& entry : table_) {
    if (entry.place != SectionPlace::data) continue;
    const auto chunks = static_cast<size_t>(chunks_of(entry.bytes));
    require(checksum64(sums_.data() + first, chunks * sizeof(uint64_t)) == entry.checksum,
            StatusCode::corrupt_data, "index file: the checksums of section {} are damaged",
            print_kind(entry.kind));
    first += chunks;
  }
}

void SectionReader::read(void* into, size_t bytes) {
  source_->read(into, bytes);
  position_ += bytes;
}

// A source may promise more than it has, so memory grows as bytes come.
std::vector<uint8_t> SectionReader::read_growing(uint64_t bytes) {
  std::vector<uint8_t> out;
  while (bytes > 0) {
    const uint64_t most = knows_size_ ? bytes : std::max<uint64_t>(kPieceBytes, out.size());
    const auto count = static_cast<size_t>(std::min(bytes, most));
    out.resize(out.size() + count);
    read(out.data() + (out.size() - count), count);
    bytes -= count;
  }
  return out;
}

const SectionEntry& SectionReader::next_entry() const {
  require(!at_end(), StatusCode::corrupt_data,
          "index file: it ends after {} sections; another is needed", table_.size());
  return table_[next_];
}

const SectionEntry& SectionReader::take(SectionKind kind, SectionPlace place) {
  require(data_read_ == data_.bytes, StatusCode::corrupt_data,
          "index file: section {} has {} bytes more than its index needs", print_kind(data_.kind),
          data_.bytes - data_read_);
  const SectionEntry& entry = next_entry();
  require(entry.kind == kind && entry.place == place, StatusCode::corrupt_data,
          "index file: section {} at place {} follows; {} at place {} expected",
          print_kind(entry.kind), static_cast<uint32_t>(entry.place), print_kind(kind),
          static_cast<uint32_t>(place));
  ++next_;
  skip_padding(entry.offset);
  return entry;
}

void SectionReader::skip_padding(uint64_t offset) {
  std::array<uint8_t, kDataAlignment> padding;
  const auto bytes = static_cast<size_t>(offset - position_);
  read(padding.data(), bytes);
  require(std::all_of(padding.begin(), padding.begin() + static_cast<ptrdiff_t>(bytes),
                      [](uint8_t byte) { return byte == 0; }),
          StatusCode::corrupt_data,
          "index file: bytes before offset {} are not 0; they are damaged", offset);
}

std::vector<uint8_t> SectionReader::read_small(SectionKind kind) {
  const SectionEntry& entry = take(kind, SectionPlace::small);
  std::vector<uint8_t> bytes = read_growing(entry.bytes);
  require(checksum64(bytes.data(), bytes.size()) == entry.checksum, StatusCode::corrupt_data,
          "index file: section {} does not match its checksum; it is damaged",
          print_kind(entry.kind));
  return bytes;
}

uint64_t SectionReader::begin_data(SectionKind kind) {
  data_ = take(kind, SectionPlace::data);
  data_read_ = 0;
  chunk_ = StreamingChecksum();
  return data_.bytes;
}

void SectionReader::read_data(void* into, size_t bytes) {
  require(bytes <= data_.bytes - data_read_, StatusCode::corrupt_data,
          "index file: section {} has {} bytes left; {} are needed", print_kind(data_.kind),
          data_.bytes - data_read_, bytes);
  auto* to = static_cast<uint8_t*>(into);
  while (bytes > 0) {
    const auto count =
        static_cast<size_t>(std::min<uint64_t>(bytes, kChunkBytes - data_read_ % kChunkBytes));
    read(to, count);
    chunk_.add(to, count);
    data_read_ += count;
    if (data_read_ % kChunkBytes == 0 || data_read_ == data_.bytes) end_chunk();
    to += count;
    bytes -= count;
  }
}

void SectionReader::end_chunk() {
  require(chunk_.sum() == sums_[next_sum_], StatusCode::corrupt_data,
          "index file: bytes before {} of section {} do not match their checksum; they are damaged",
          data_read_, print_kind(data_.kind));
  ++next_sum_;
  chunk_ = StreamingChecksum();
}

AlignedVector<uint8_t> SectionReader::read_whole(SectionKind kind) {
  AlignedVector<uint8_t> bytes;
  append_data(bytes, begin_data(kind));
  return bytes;
}

std::shared_ptr<const MappedSection> SectionReader::map_data(SectionKind kind) {
  const SectionEntry& entry = take(kind, SectionPlace::data);
  const auto first = sums_.begin() + static_cast<ptrdiff_t>(next_sum_);
  const auto chunks = static_cast<size_t>(chunks_of(entry.bytes));
  next_sum_ += chunks;
  position_ += entry.bytes;
  source_ = memory_source(file_->data() + position_, file_->bytes() - position_);
  return std::make_shared<MappedSection>(
      file_, entry, std::vector<uint64_t>(first, first + static_cast<ptrdiff_t>(chunks)));
}

void SectionReader::expect_end() const {
  require(at_end() && data_read_ == data_.bytes, StatusCode::corrupt_data,
          "index file: {} of its {} sections belong to no index", table_.size() - next_,
          table_.size());
}

}  // namespace polarquant
