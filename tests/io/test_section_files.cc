// SPDX-License-Identifier: MIT
// Files of sections: what is written is read, from streams and maps, and what is damaged is not.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "src/io/section_reader.h"
#include "src/io/section_writer.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

constexpr SectionKind kSmall = section_kind("SMAL");
constexpr SectionKind kData = section_kind("DATA");

class VectorSink final : public ByteSink {
 public:
  void write(const void* data, size_t bytes) override {
    const auto* from = static_cast<const uint8_t*>(data);
    out.insert(out.end(), from, from + bytes);
  }
  std::vector<uint8_t> out;
};

std::vector<uint8_t> numbers(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 31 + i / 251);
  return bytes;
}

/// A small section, a data section written in pieces of 1000 bytes, another small one.
std::vector<uint8_t> made(size_t small, size_t data) {
  SectionWriter writer;
  writer.add_small(kSmall, numbers(small));
  const std::vector<uint8_t> bytes = numbers(data);
  writer.add_data(kData, [&](ByteSink& sink) {
    for (size_t at = 0; at < bytes.size(); at += 1000) {
      sink.write(bytes.data() + at, std::min<size_t>(1000, bytes.size() - at));
    }
  });
  writer.add_small(kSmall, {});
  VectorSink sink;
  writer.write(sink);
  return sink.out;
}

constexpr size_t kSizes[] = {0, 1, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3'500'000};

TEST_CASE("Sections are read as they were written, by any pieces", "[io]") {
  const size_t size = GENERATE(from_range(std::begin(kSizes), std::end(kSizes)));
  const std::vector<uint8_t> file = made(size % 5000, size);
  const bool knows_size = GENERATE(true, false);
  size_t position = 0;
  SectionReader reader(
      knows_size ? memory_source(file.data(), file.size())
                 : callback_source([&](void* into, size_t bytes) {
                     const size_t count = std::min({bytes, size_t{60'000}, file.size() - position});
                     std::memcpy(into, file.data() + position, count);
                     position += count;
                     return count;
                   }));
  CHECK(reader.next_kind() == kSmall);
  CHECK(reader.read_small(kSmall) == numbers(size % 5000));
  CHECK(reader.next_bytes() == size);
  CHECK(reader.begin_data(kData) == size);
  std::vector<uint8_t> first(size / 3);
  reader.read_data(first.data(), first.size());
  std::vector<uint8_t> data = first;
  reader.append_data(data, size - size / 3);
  CHECK((data == numbers(size)));
  CHECK_THROWS_AS(reader.read_data(first.data(), 1), Error);
  CHECK(reader.read_small(kSmall).empty());
  reader.expect_end();
  CHECK_THROWS_AS(reader.next_kind(), Error);
}

TEST_CASE("Sections of a mapped file are used where they lie", "[io]") {
  const TemporaryFolder folder;
  const size_t size = GENERATE(from_range(std::begin(kSizes), std::end(kSizes)));
  const std::vector<uint8_t> file = made(100, size);
  const std::string path = folder.write("file", std::string(file.begin(), file.end()));
  SectionReader reader(std::make_shared<const MappedFile>(path));
  CHECK(reader.is_mapped());
  reader.read_small(kSmall);
  const auto section = reader.map_data(kData);
  CHECK(reader.read_small(kSmall).empty());
  reader.expect_end();
  REQUIRE(section->bytes() == size);
  CHECK(reinterpret_cast<uintptr_t>(section->data()) % kDataAlignment == 0);
  section->require_intact();
  const std::vector<uint8_t> expected = numbers(size);
  CHECK(std::equal(expected.begin(), expected.end(), section->data()));
}

TEST_CASE("A chunk is verified when it is first asked for, and only then", "[io]") {
  const TemporaryFolder folder;
  std::vector<uint8_t> file = made(100, 3'500'000);
  file[file.size() - 1000] ^= 1;  // in the last chunk
  const std::string path = folder.write("file", std::string(file.begin(), file.end()));
  SectionReader reader(std::make_shared<const MappedFile>(path));
  reader.read_small(kSmall);
  const auto section = reader.map_data(kData);
  section->require_intact(0, 3 << 20);
  section->require_intact(3'499'999, 0);
  CHECK_THROWS_AS(section->require_intact((3 << 20) - 1, 2), Error);
  CHECK_THROWS_AS(section->require_intact(3'400'000, 1), Error);
  CHECK_THROWS_AS(section->require_intact(), Error);
  CHECK_THROWS_AS(section->verify_anew(), Error);
}

TEST_CASE("Sections are taken in order and whole", "[io]") {
  const std::vector<uint8_t> file = made(100, 5000);
  SectionReader reader(memory_source(file.data(), file.size()));
  CHECK_THROWS_AS(reader.begin_data(kData), Error);
  CHECK_THROWS_AS(reader.read_small(kData), Error);
  reader.read_small(kSmall);
  CHECK_THROWS_AS(reader.read_small(kSmall), Error);
  reader.begin_data(kData);
  std::vector<uint8_t> some(4000);
  reader.read_data(some.data(), some.size());
  CHECK_THROWS_AS(reader.expect_end(), Error);
  CHECK_THROWS_AS(reader.read_small(kSmall), Error);
}

TEST_CASE("A section that comes out differently the second time is not written", "[io]") {
  SectionWriter writer;
  uint8_t byte = 0;
  writer.add_data(kData, [&](ByteSink& sink) {
    ++byte;
    sink.write(&byte, 1);
  });
  VectorSink sink;
  CHECK_THROWS_AS(writer.write(sink), Error);
}

TEST_CASE("A stream that promises more than it has takes no memory for it", "[io]") {
  // A header and table, rightly summed, of a data section of 2^50 bytes.
  std::vector<SectionEntry> table(2);
  table[0].kind = kChecksums;
  table[0].bytes = chunks_of(uint64_t{1} << 50) * 8;
  table[0].offset = kHeaderBytes + 2 * kTableEntryBytes;
  table[1].kind = kData;
  table[1].place = SectionPlace::data;
  table[1].bytes = uint64_t{1} << 50;
  table[1].offset = offset_after(table[0].offset + table[0].bytes, SectionPlace::data);
  const std::vector<uint8_t> head = print_header(1, table, table[1].offset + table[1].bytes);
  size_t position = 0;
  CHECK_THROWS_AS(SectionReader(callback_source([&](void* into, size_t bytes) {
                    const size_t count = std::min(bytes, head.size() - position);
                    std::memcpy(into, head.data() + position, count);
                    position += count;
                    return count;
                  })),
                  Error);
  CHECK_THROWS_AS(SectionReader(memory_source(head.data(), head.size())), Error);
}

}  // namespace
}  // namespace polarquant::test
