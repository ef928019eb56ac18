// SPDX-License-Identifier: MIT
// Files of sections: a header, a table of sections, then the sections, in the table's order.
// docs/format.md, "Index files", has the bytes. This layer knows nothing of what sections hold.
//
// Small sections have one checksum in the table and are verified when a file is opened. Data
// sections stand on pages of their own, so that they can be used where they lie in a mapped file,
// and have a checksum for each chunk of 1 MiB, so that a chunk is verified when it is first used.
// Every offset follows from the sizes before it, so that no two sections can overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace polarquant {

/// Four characters, the first in the lowest byte.
using SectionKind = uint32_t;
constexpr SectionKind section_kind(const char (&name)[5]) {
  return static_cast<uint32_t>(static_cast<uint8_t>(name[0])) |
         static_cast<uint32_t>(static_cast<uint8_t>(name[1])) << 8 |
         static_cast<uint32_t>(static_cast<uint8_t>(name[2])) << 16 |
         static_cast<uint32_t>(static_cast<uint8_t>(name[3])) << 24;
}
/// For texts: "FRNT", other bytes as '?'.
std::string print_kind(SectionKind kind);

inline constexpr char kFileMagic[8] = {'P', 'Q', 'I', 'N', 'D', 'E', 'X', '\0'};
inline constexpr uint32_t kFileVersion = 3;
/// Files that hold rows as floats are of this version at least, others of the first.
inline constexpr uint32_t kFileVersionOfFloats = 2;
/// And files that hold blocks of codes of a byte a coordinate: earlier ones have these unsplit.
inline constexpr uint32_t kFileVersionOfSplitLevels = 3;
inline constexpr uint64_t kHeaderBytes = 64;
inline constexpr uint64_t kTableEntryBytes = 32;
inline constexpr uint64_t kSmallAlignment = 8;
inline constexpr uint64_t kDataAlignment = 4096;
inline constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
/// A file of ours has tens; the table is read before anything in it is verified.
inline constexpr uint32_t kMaxSections = 65536;
/// Small sections are read whole.
inline constexpr uint64_t kMaxSmallBytes = uint64_t{1} << 36;
/// The section of data sections' checksums, the first in every file.
inline constexpr SectionKind kChecksums = section_kind("SUMS");

enum class SectionPlace : uint32_t { small = 0, data = 1 };

struct SectionEntry {
  SectionKind kind = 0;
  SectionPlace place = SectionPlace::small;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t checksum = 0;  // of a data section: of its chunks' checksums
};

constexpr uint64_t chunks_of(uint64_t bytes) {
  return bytes / kChunkBytes + (bytes % kChunkBytes != 0 ? 1 : 0);
}

/// The offset of a section after `end`; throws corrupt_data when it wraps.
uint64_t offset_after(uint64_t end, SectionPlace place);

/// Header and table as they stand in a file, their checksum filled in.
std::vector<uint8_t> print_header(uint32_t version, const std::vector<SectionEntry>& table,
                                  uint64_t file_bytes);

struct FileHeader {
  uint32_t version = 0;
  uint32_t sections = 0;
  uint64_t file_bytes = 0;
};
/// Checks magic, version and ranges of the first kHeaderBytes bytes.
FileHeader parse_header(const uint8_t* header);
/// Checks the checksum of header and table, and every entry.
std::vector<SectionEntry> parse_table(const uint8_t* header, const uint8_t* table);

}  // namespace polarquant
