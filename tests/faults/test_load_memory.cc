// SPDX-License-Identifier: MIT
// What loading takes: of every small file, whatever numbers it claims, little. A file of a few
// hundred bytes may not take gigabytes.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/faults/failing_memory.h"
#include "tests/fuzz/index_sections.h"

namespace polarquant::test {
namespace {

using Sections = std::vector<FileSection>;
using Bytes = std::vector<uint8_t>;

/// As docs/format.md says: a multiple of the file, and what lists without centroids may claim.
int64_t most_for(size_t file_bytes) {
  return (int64_t{64} << 20) + 64 * static_cast<int64_t>(file_bytes);
}

struct SmallFile {
  std::string name;
  Sections sections;
};

int32_t append(void* user, const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  auto& to = *static_cast<Bytes*>(user);
  to.insert(to.end(), from, from + bytes);
  return 0;
}

/// Nothing in a file without rows and training tells how many lists and links there may be.
SmallFile untrained(const char* description) {
  const IndexHandle index = make_index(description, 16, POLAR_METRIC_L2);
  Bytes bytes;
  require_ok(polar_index_save_to(index.get(), append, &bytes, nullptr));
  return {std::string("untrained ") + description, take_apart(bytes)};
}

/// The inputs of the fuzz target, which have every kind of index and of damage, and such.
std::vector<SmallFile> small_files() {
  std::vector<SmallFile> files;
  for (const char* description : {"IVF4,Polar4", "IVF4(Polar8),Polar4", "IVF4_HNSW4,Polar4",
                                  "PCA8,IVF4,Polar4", "Polar2-pca", "HNSW8,Polar4", "HNSW8x,Polar4",
                                  "NSG8,Polar4", "IDMap2,IVF4,Polar4,RFlat", "IMI2x2,Polar4"})
    files.push_back(untrained(description));
  for (const char* folder : {"seeds", "found"}) {
    const std::string path = std::string(POLARQUANT_FUZZ_INPUTS) + "/" + folder + "/index_file";
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
      files.push_back({entry.path().filename(), fuzz::parse_sections(bytes.data(), bytes.size())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SmallFile& a, const SmallFile& b) { return a.name < b.name; });
  return files;
}

/// Loads the file, or not, and checks what that took.
void load(const Bytes& file) {
  struct Source {
    const Bytes& bytes;
    size_t position = 0;
  } source{file};
  const polar_read_fn read = [](void* user, void* data, size_t bytes) -> int64_t {
    auto& from = *static_cast<Source*>(user);
    const size_t count = std::min(bytes, from.bytes.size() - from.position);
    if (count > 0) std::memcpy(data, from.bytes.data() + from.position, count);
    from.position += count;
    return static_cast<int64_t>(count);
  };
  polar_index* index = nullptr;
  FailingMemory memory(most_for(file.size()), Failing::beyond);
  const polar_status status = polar_index_load_from(read, &source, nullptr, &index);
  memory.stop();
  const IndexHandle loaded(index);
  CHECK_FALSE(memory.has_failed());
  REQUIRE(status != POLAR_ERROR_INTERNAL);
}

TEST_CASE("Loading a small file takes little memory", "[faults]") {
  for (const SmallFile& file : small_files()) {
    INFO(file.name);
    load(put_together(file.sections));
  }
}

/// Each number of the file's small parts, of 4 and of 8 bytes, is a huge one in turn.
void load_huge_numbers(const SmallFile& file, uint64_t number) {
  constexpr size_t kMostBytes = 240;  // what follows are codes, links and tables
  for (size_t at = 0; at < file.sections.size(); ++at) {
    const size_t bytes = std::min(file.sections[at].bytes.size(), kMostBytes);
    for (const size_t width : {size_t{4}, size_t{8}}) {
      for (size_t offset = 0; offset + width <= bytes; offset += 4) {
        Sections sections = file.sections;
        std::memcpy(sections[at].bytes.data() + offset, &number, width);
        INFO(file.name << ", section " << at << ", " << width << " bytes at " << offset << ": "
                       << number);
        load(put_together(std::move(sections)));
      }
    }
  }
}

TEST_CASE("Loading a small file of huge numbers takes little memory", "[faults]") {
  const uint64_t number =
      GENERATE(uint64_t{1} << 16, (uint64_t{1} << 20) - 1, (uint64_t{1} << 31) - 1,
               uint64_t{1} << 40, uint64_t{0x7f7fffff}, uint64_t{0x7f7fffff} << 32);
  for (const SmallFile& file : small_files()) load_huge_numbers(file, number);
}

}  // namespace
}  // namespace polarquant::test
