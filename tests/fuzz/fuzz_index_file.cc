// SPDX-License-Identifier: MIT
// Index files with right checksums. Input: sections, as index_sections.h has them.
//
// What is loaded, by a stream or a file, mapped or not, works, whatever is wrong in it; memory
// stays within what the file's size and its codec take.
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/checksum.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/index_sections.h"
#include "tests/fuzz/index_use.h"

using namespace polarquant::fuzz;

namespace {

/// Dense rotations of many dimensions take minutes to make, as they may.
bool is_slow(const std::vector<polarquant::test::FileSection>& sections) {
  for (const auto& section : sections) {
    const std::string text(section.bytes.begin(), section.bytes.end());
    if (section.kind == polarquant::section_kind("CODC") &&
        text.find("-dense") != std::string::npos) {
      return true;
    }
  }
  return false;
}

polar_index* load_by_stream(const std::vector<uint8_t>& file, size_t piece) {
  struct Source {
    Input input;
    size_t piece;
  };
  Source source{Input(file.data(), file.size()), piece};
  const polar_read_fn read = [](void* user, void* data, size_t count) -> int64_t {
    auto& from = *static_cast<Source*>(user);
    const std::vector<uint8_t> taken = from.input.take(std::min(count, from.piece));
    if (!taken.empty()) std::memcpy(data, taken.data(), taken.size());
    return static_cast<int64_t>(taken.size());
  };
  polar_index* index = nullptr;
  const bool works =
      allow_failure("load_from", polar_index_load_from(read, &source, nullptr, &index));
  expect(works == (index != nullptr), "an index and a status that do not fit");
  return index;
}

polar_index* load_by_path(const std::vector<uint8_t>& file, bool is_mapped) {
  const int descriptor = memfd_create("index", 0);
  expect(descriptor >= 0 &&
             write(descriptor, file.data(), file.size()) == static_cast<ssize_t>(file.size()),
         "no file in memory");
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = is_mapped ? 1 : 0;
  polar_index* index = nullptr;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const bool works = allow_failure("load", polar_index_load(path.c_str(), &options, &index));
  expect(works == (index != nullptr), "an index and a status that do not fit");
  close(descriptor);
  return index;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::vector<polarquant::test::FileSection> sections = parse_sections(data, bytes);
  if (is_slow(sections)) return 0;
  const std::vector<uint8_t> file = polarquant::test::put_together(std::move(sections));
  const uint64_t choice = polarquant::checksum64(data, bytes);
  polar_index* index = nullptr;
  {
    // Lists of inverted files without centroids may take 64 MiB (docs/format.md).
    const MemoryBudget budget(96 * kMiB + 4 * file.size());
    switch (choice % 4) {
      case 0:
        index = load_by_stream(file, 777);
        break;
      case 1:
        index = load_by_path(file, false);
        break;
      case 2:
        index = load_by_path(file, true);
        break;
      default:
        index = load_by_stream(file, file.size());
    }
    expect(!budget.was_exceeded(), "a file takes more memory than its size says");
  }
  if (index == nullptr) return 0;
  const MemoryBudget budget(512 * kMiB);
  use_index(index, choice >> 2);
  polar_index_destroy(index);
  return 0;
}
