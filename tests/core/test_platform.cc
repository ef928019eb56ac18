// SPDX-License-Identifier: MIT
// What differs between systems, and what it has in common.
#include "src/core/platform/platform.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

const std::string kName = "caf\xc3\xa9 \xe5\x90\x91\xe9\x87\x8f \xf0\x9f\xa7\xad.polar";

TEST_CASE("names in UTF-8 are paths, and back", "[core]") {
  CHECK(platform::path_of("").empty());
  CHECK(platform::name_of(platform::path_of(kName)) == kName);
  CHECK(platform::path_of(kName) ==
        std::filesystem::path(std::u8string(kName.begin(), kName.end())));
  const TemporaryFolder folder;
  const std::filesystem::path path = platform::path_of(folder.file(kName));
  std::ofstream(path) << "here";
  CHECK(std::filesystem::file_size(path) == 4);
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    CHECK(platform::name_of(entry.path().filename()) == kName);
}

TEST_CASE("random numbers differ", "[core]") {
  std::vector<uint64_t> numbers(1000);
  for (uint64_t& number : numbers) number = platform::random_number();
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
  CHECK(numbers.front() < uint64_t{1} << 62);
  CHECK(numbers.back() > uint64_t{3} << 62);
}

TEST_CASE("a library that is not there is said to be so", "[core]") {
  std::string error;
  CHECK(platform::open_library("polarquant_none", &error) == nullptr);
  CHECK(error.find("polarquant_none") != std::string::npos);
  CHECK(error.size() > std::string("polarquant_none").size() + 5);
  CHECK(platform::library_file("some").find("some") != std::string::npos);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizerAllocates = true;
#elif defined(__has_feature)
constexpr bool kSanitizerAllocates =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitizerAllocates = false;
#endif

TEST_CASE("memory freed between other memory goes back to the system", "[core]") {
  const auto resident_pages = [] {
    int64_t all = 0;
    int64_t resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident;
  };
  constexpr size_t kPieces = 4000;
  constexpr size_t kBytes = 20000;
  std::vector<std::vector<char>> pieces;
  pieces.reserve(kPieces);
  for (size_t i = 0; i < kPieces; ++i) pieces.emplace_back(kBytes, char{1});
  for (size_t i = 0; i < kPieces; i += 2) pieces[i] = std::vector<char>();
  const int64_t before = resident_pages();
  // A sanitizer's allocator keeps what is freed.
  if (!platform::return_free_memory() || before == 0 || kSanitizerAllocates) return;
  // Half of the pieces have gone, each with three whole pages at the least.
  CHECK(before - resident_pages() > static_cast<int64_t>(kPieces));
}

int some_function() { return 7; }

TEST_CASE("the folder of this program is known", "[core]") {
  const std::string folder =
      platform::folder_of_code(reinterpret_cast<const void*>(&some_function));
  REQUIRE(!folder.empty());
  CHECK((folder.back() == '/' || folder.back() == '\\'));
  CHECK(std::filesystem::is_directory(platform::path_of(folder)));
}

TEST_CASE("waits for pages are counted upwards", "[core]") {
  const auto before = platform::page_waits();
  const auto after = platform::page_waits();
  REQUIRE(before.has_value());
  CHECK(*after >= *before);
}

}  // namespace
}  // namespace polarquant::test
