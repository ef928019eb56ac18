// SPDX-License-Identifier: MIT
#include "src/io/section_format.h"

#include <cstring>

#include "src/core/byte_stream.h"
#include "src/core/checksum.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr const char* kWhat = "index file";
constexpr size_t kChecksumOffset = 24;

}  // namespace

std::string print_kind(SectionKind kind) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const auto c = static_cast<char>(kind >> 8 * i & 0xff);
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

uint64_t offset_after(uint64_t end, SectionPlace place) {
  const uint64_t alignment = place == SectionPlace::data ? kDataAlignment : kSmallAlignment;
  require(end <= UINT64_MAX - alignment, StatusCode::corrupt_data,
          "{}: a section would begin after byte {}", kWhat, end);
  return (end + alignment - 1) / alignment * alignment;
}

std::vector<uint8_t> print_header(uint32_t version, const std::vector<SectionEntry>& table,
                                  uint64_t file_bytes) {
  ByteWriter out;
  out.put_bytes(kFileMagic, sizeof kFileMagic);
  out.put<uint32_t>(version);
  out.put<uint32_t>(static_cast<uint32_t>(table.size()));
  out.put<uint64_t>(file_bytes);
  while (out.bytes().size() < kHeaderBytes) out.put<uint64_t>(0);
  for (const SectionEntry& entry : table) {
    out.put<uint32_t>(entry.kind);
    out.put<uint32_t>(static_cast<uint32_t>(entry.place));
    out.put<uint64_t>(entry.offset);
    out.put<uint64_t>(entry.bytes);
    out.put<uint64_t>(entry.checksum);
  }
  std::vector<uint8_t> bytes = out.bytes();
  const uint64_t checksum = checksum64(bytes.data(), bytes.size());
  std::memcpy(bytes.data() + kChecksumOffset, &checksum, sizeof checksum);
  return bytes;
}

FileHeader parse_header(const uint8_t* header) {
  ByteReader in(header, kHeaderBytes, kWhat);
  for (const char expected : kFileMagic) {
    require(in.get<char>("magic") == expected, StatusCode::corrupt_data,
            "{}: does not begin with {}; it is no index file of this library", kWhat, kFileMagic);
  }
  const auto version = in.get<uint32_t>("format version");
  require(version <= kFileVersion, StatusCode::newer_format,
          "{}: format version {} is newer than this library's {}", kWhat, version, kFileVersion);
  require(version >= 1, StatusCode::corrupt_data, "{}: format version {} is not allowed; 1 to {}",
          kWhat, version, kFileVersion);
  FileHeader read;
  read.version = version;
  read.sections = in.get<uint32_t>("section count");
  read.file_bytes = in.get<uint64_t>("file size");
  require(read.sections >= 1 && read.sections <= kMaxSections, StatusCode::corrupt_data,
          "{}: {} sections; 1 to {} are allowed", kWhat, read.sections, kMaxSections);
  in.get<uint64_t>("checksum");
  for (int i = 0; i < 4; ++i) {
    const auto reserved = in.get<uint64_t>("reserved");
    require(reserved == 0, StatusCode::corrupt_data,
            "{}: reserved bytes of its header are {}; 0 expected", kWhat, reserved);
  }
  return read;
}

std::vector<SectionEntry> parse_table(const uint8_t* header, const uint8_t* table) {
  const FileHeader read = parse_header(header);
  const size_t table_bytes = read.sections * kTableEntryBytes;
  std::vector<uint8_t> covered(header, header + kHeaderBytes);
  covered.insert(covered.end(), table, table + table_bytes);
  uint64_t stored = 0;
  std::memcpy(&stored, header + kChecksumOffset, sizeof stored);
  std::memset(covered.data() + kChecksumOffset, 0, sizeof stored);
  require(stored == checksum64(covered.data(), covered.size()), StatusCode::corrupt_data,
          "{}: the checksum of its header and table does not match; it is damaged", kWhat);

  ByteReader in(table, table_bytes, kWhat);
  std::vector<SectionEntry> entries(read.sections);
  uint64_t end = kHeaderBytes + table_bytes;
  for (SectionEntry& entry : entries) {
    entry.kind = in.get<uint32_t>("section kind");
    const auto place = in.get<uint32_t>("section place");
    entry.offset = in.get<uint64_t>("section offset");
    entry.bytes = in.get<uint64_t>("section size");
    entry.checksum = in.get<uint64_t>("section checksum");
    const std::string name = print_kind(entry.kind);
    require(place <= 1, StatusCode::corrupt_data, "{}: place {} of section {}; 0 or 1 is allowed",
            kWhat, place, name);
    entry.place = static_cast<SectionPlace>(place);
    const uint64_t expected = offset_after(end, entry.place);
    require(entry.offset == expected, StatusCode::corrupt_data,
            "{}: section {} begins at {}; {} expected", kWhat, name, entry.offset, expected);
    require(entry.bytes <= read.file_bytes && entry.offset <= read.file_bytes - entry.bytes,
            StatusCode::corrupt_data, "{}: section {} has {} bytes from {} on; the file has {}",
            kWhat, name, entry.bytes, entry.offset, read.file_bytes);
    require(entry.place == SectionPlace::data || entry.bytes <= kMaxSmallBytes,
            StatusCode::corrupt_data, "{}: section {} has {} bytes; at most {} are allowed", kWhat,
            name, entry.bytes, kMaxSmallBytes);
    end = entry.offset + entry.bytes;
  }
  require(end == read.file_bytes, StatusCode::corrupt_data,
          "{}: its sections end at byte {}; its header says {}", kWhat, end, read.file_bytes);
  uint64_t chunks = 0;
  for (const SectionEntry& entry : entries) {
    if (entry.place == SectionPlace::data) chunks += chunks_of(entry.bytes);
  }
  require(entries[0].kind == kChecksums && entries[0].place == SectionPlace::small &&
              entries[0].bytes == chunks * sizeof(uint64_t),
          StatusCode::corrupt_data,
          "{}: its first section is {} of {} bytes; {} of {} bytes expected", kWhat,
          print_kind(entries[0].kind), entries[0].bytes, print_kind(kChecksums),
          chunks * sizeof(uint64_t));
  return entries;
}

}  // namespace polarquant
