// SPDX-License-Identifier: MIT
// Files of sections taken apart and put together again with right checksums, for hostile ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "src/core/checksum.h"
#include "src/io/section_format.h"
#include "src/io/section_writer.h"

namespace polarquant::test {

struct FileSection {
  SectionKind kind;
  SectionPlace place;
  std::vector<uint8_t> bytes;
};

/// Of a good file, without the section of checksums.
inline std::vector<FileSection> take_apart(const std::vector<uint8_t>& file) {
  std::vector<FileSection> sections;
  for (const SectionEntry& entry : parse_table(file.data(), file.data() + kHeaderBytes)) {
    if (entry.kind == kChecksums) continue;
    const auto begin = file.begin() + static_cast<ptrdiff_t>(entry.offset);
    sections.push_back(
        {entry.kind, entry.place, {begin, begin + static_cast<ptrdiff_t>(entry.bytes)}});
  }
  return sections;
}

class VectorSink final : public ByteSink {
 public:
  void write(const void* data, size_t bytes) override {
    const auto* from = static_cast<const uint8_t*>(data);
    out.insert(out.end(), from, from + bytes);
  }
  std::vector<uint8_t> out;
};

/// Of this version, in whose form the sections are.
inline std::vector<uint8_t> put_together(std::vector<FileSection> sections) {
  SectionWriter writer;
  writer.need_version(kFileVersion);
  for (FileSection& section : sections) {
    // The state of a codec ends with a checksum of its own.
    if (section.kind == section_kind("CODC") && section.bytes.size() >= 8) {
      const size_t covered = section.bytes.size() - 8;
      const uint64_t sum = checksum64(section.bytes.data(), covered);
      std::memcpy(section.bytes.data() + covered, &sum, sizeof sum);
    }
    if (section.place == SectionPlace::small) {
      writer.add_small(section.kind, section.bytes);
    } else {
      writer.add_data(section.kind, [&section](ByteSink& sink) {
        if (!section.bytes.empty()) sink.write(section.bytes.data(), section.bytes.size());
      });
    }
  }
  VectorSink sink;
  writer.write(sink);
  return sink.out;
}

/// Header and table with their checksum made right again.
inline void sign_table(std::vector<uint8_t>& file) {
  uint32_t sections = 0;
  std::memcpy(&sections, file.data() + 12, sizeof sections);
  const size_t covered = kHeaderBytes + sections * kTableEntryBytes;
  if (covered > file.size()) return;
  std::memset(file.data() + 24, 0, 8);
  const uint64_t sum = checksum64(file.data(), covered);
  std::memcpy(file.data() + 24, &sum, sizeof sum);
}

}  // namespace polarquant::test
