// SPDX-License-Identifier: MIT
#include "tests/fuzz/index_sections.h"

#include <algorithm>
#include <cstring>

namespace polarquant::fuzz {
namespace {

constexpr size_t kHeadBytes = 9;
constexpr size_t kMostSections = 100;

}  // namespace

std::vector<test::FileSection> parse_sections(const uint8_t* data, size_t bytes) {
  std::vector<test::FileSection> sections;
  while (bytes >= kHeadBytes && sections.size() < kMostSections) {
    test::FileSection section;
    uint32_t length = 0;
    std::memcpy(&section.kind, data, sizeof section.kind);
    section.place = data[4] % 2 == 0 ? SectionPlace::small : SectionPlace::data;
    std::memcpy(&length, data + 5, sizeof length);
    data += kHeadBytes;
    bytes -= kHeadBytes;
    const size_t taken = std::min<size_t>(length, bytes);
    section.bytes.assign(data, data + taken);
    data += taken;
    bytes -= taken;
    sections.push_back(std::move(section));
  }
  return sections;
}

std::vector<uint8_t> print_sections(const std::vector<test::FileSection>& sections) {
  std::vector<uint8_t> out;
  const auto append = [&](const void* from, size_t bytes) {
    const auto* const first = static_cast<const uint8_t*>(from);
    out.insert(out.end(), first, first + bytes);
  };
  for (const test::FileSection& section : sections) {
    const auto place = static_cast<uint8_t>(section.place);
    const auto length = static_cast<uint32_t>(section.bytes.size());
    append(&section.kind, sizeof section.kind);
    append(&place, sizeof place);
    append(&length, sizeof length);
    append(section.bytes.data(), section.bytes.size());
  }
  return out;
}

}  // namespace polarquant::fuzz
