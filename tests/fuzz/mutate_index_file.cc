// SPDX-License-Identifier: MIT
// How libFuzzer changes index files: section by section, so that what is read first stays whole
// while what is read later changes; by numbers that sizes, counts, ids and links stumble over; and
// by sections of two files put together.
#include <cstring>

#include "src/core/random.h"
#include "tests/fuzz/index_sections.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t bytes, size_t most);

namespace polarquant::fuzz {
namespace {

using test::FileSection;

constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 7,
                                 8,
                                 15,
                                 16,
                                 31,
                                 32,
                                 63,
                                 64,
                                 65,
                                 127,
                                 128,
                                 255,
                                 256,
                                 1000,
                                 0xffff,
                                 0x10000,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 1ULL << 32,
                                 1ULL << 40,
                                 1ULL << 62,
                                 ~0ULL >> 1,
                                 1ULL << 63,
                                 ~0ULL,
                                 0x7fc00000,
                                 0x7f800000,
                                 0xff800000,
                                 0x3f800000,
                                 0x7ff8000000000000,
                                 0x3ff0000000000000};
// Heads, with their sizes and flags, are no longer.
constexpr size_t kHeadBytes = 160;

/// A number of 1, 2, 4 or 8 bytes, mostly in the section's head, becomes another.
void change_number(std::vector<uint8_t>& bytes, Random& random) {
  const size_t width = size_t{1} << random.below(4);
  if (bytes.size() < width) return;
  const size_t places = bytes.size() - width + 1;
  size_t at = random.below(random.below(3) == 0 ? places : std::min(places, kHeadBytes));
  if (random.below(2) == 0) at = at / width * width;
  uint64_t number = 0;
  std::memcpy(&number, &bytes[at], width);
  switch (random.below(4)) {
    case 0:
      number += random.below(9) - 4;
      break;
    case 1:
      number = random.next();
      break;
    default:
      number = kNumbers[random.below(std::size(kNumbers))];
  }
  std::memcpy(&bytes[at], &number, width);
}

/// As libFuzzer changes any bytes.
void change_bytes(std::vector<uint8_t>& bytes, size_t more) {
  const size_t before = bytes.size();
  if (before + more == 0) return;
  bytes.resize(before + more);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), before, bytes.size()));
}

void change_one(std::vector<FileSection>& sections, Random& random) {
  const size_t chosen = random.below(sections.size());
  FileSection& section = sections[chosen];
  const auto at = sections.begin() + static_cast<ptrdiff_t>(chosen);
  switch (random.below(12)) {
    case 0:
      change_bytes(section.bytes, 64);
      break;
    case 1:
      section.bytes.resize(random.below(section.bytes.size() + 1));
      break;
    case 2:
      section.bytes.resize(section.bytes.size() + 1 + random.below(100));
      break;
    case 3:
      std::swap(section, sections[random.below(sections.size())]);
      break;
    case 4:
      if (sections.size() > 1) sections.erase(at);
      break;
    case 5:
      sections.insert(at, FileSection(section));
      break;
    case 6:
      section.place =
          section.place == SectionPlace::small ? SectionPlace::data : SectionPlace::small;
      break;
    case 7:
      change_bytes(section.bytes, 0);
      break;
    default:
      change_number(section.bytes, random);
  }
}

size_t store(const std::vector<FileSection>& sections, uint8_t* data, size_t most) {
  const std::vector<uint8_t> printed = print_sections(sections);
  const size_t bytes = std::min(printed.size(), most);
  if (bytes > 0) std::memcpy(data, printed.data(), bytes);
  return bytes;
}

}  // namespace
}  // namespace polarquant::fuzz

using namespace polarquant;        // NOLINT: these are libFuzzer's names and nothing else
using namespace polarquant::fuzz;  // NOLINT

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t most,
                                          unsigned int seed) {
  Random random(seed);
  std::vector<FileSection> sections = parse_sections(data, bytes);
  if (sections.empty()) return LLVMFuzzerMutate(data, bytes, most);
  for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
    change_one(sections, random);
  }
  return store(sections, data, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t bytes1,
                                            const uint8_t* data2, size_t bytes2, uint8_t* out,
                                            size_t most, unsigned int seed) {
  Random random(seed);
  std::vector<FileSection> one = parse_sections(data1, bytes1);
  const std::vector<FileSection> two = parse_sections(data2, bytes2);
  if (one.empty() || two.empty()) return 0;
  const auto end = static_cast<ptrdiff_t>(random.below(one.size()));
  const auto from = static_cast<ptrdiff_t>(random.below(two.size()));
  if (random.below(2) == 0) {
    one[static_cast<size_t>(end)] = two[static_cast<size_t>(from)];
  } else {
    one.erase(one.begin() + end, one.end());
    one.insert(one.end(), two.begin() + from, two.end());
  }
  return store(one, out, most);
}
