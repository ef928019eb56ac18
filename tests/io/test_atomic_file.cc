// SPDX-License-Identifier: MIT
// A file appears whole or not at all: whatever happens before commit() leaves the old one.
#include "src/io/atomic_file.h"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "src/core/status.h"
#include "tests/io/written_files.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

TEST_CASE("AtomicFile replaces a file at commit, not before", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  const std::string large(3'000'000, 'x');
  {
    AtomicFile file(path);
    file.write(large.data(), large.size());
    CHECK(contents(path) == "old");
  }
  CHECK(contents(path) == "old");
  CHECK(files_in(folder.file("")) == 1);
  {
    AtomicFile file(path);
    file.write(large.data(), large.size());
    const auto refuse = [&](std::unique_ptr<ByteSource> written) {
      std::string bytes(large.size(), '\0');
      written->read(bytes.data(), bytes.size());
      CHECK((bytes == large));
      CHECK(contents(path) == "old");
      fail(StatusCode::corrupt_data, "no");
    };
    CHECK_THROWS_AS(file.commit(refuse), Error);
  }
  CHECK(contents(path) == "old");
  CHECK(files_in(folder.file("")) == 1);
  replace(path, large);
  CHECK((contents(path) == large));
  replace(folder.file("new"), "");
  CHECK(contents(folder.file("new")).empty());
  CHECK(files_in(folder.file("")) == 2);
}

TEST_CASE("the beginning of a file can be written last", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("file");
  AtomicFile file(path);
  file.write("......middle", 12);
  file.overwrite_begin("begin-", 6);
  file.write("-end", 4);
  file.commit();
  CHECK(contents(path) == "begin-middle-end");
}

TEST_CASE("AtomicFile takes names in UTF-8, and long paths", "[io]") {
  const TemporaryFolder folder;
  const std::string name = "caf\xc3\xa9 \xe5\x90\x91\xe9\x87\x8f.polar";
  replace(folder.file(name), "new");
  CHECK(contents(folder.file(name)) == "new");
  // Windows takes no more than 260 characters from those who do not ask for more.
  std::string deep = folder.file("deep");
  while (deep.size() < 400) deep += "/" + std::string(60, 'd');
  std::filesystem::create_directories(platform::path_of(deep));
  replace(deep + "/file", "new");
  CHECK(contents(deep + "/file") == "new");
  CHECK(files_in(deep) == 1);
}

TEST_CASE("Of threads that write one file each writes it whole", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("file");
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c'}) {
    writers.emplace_back([&path, letter] {
      for (int turn = 0; turn < 10; ++turn) replace(path, std::string(1'100'000, letter));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string bytes = contents(path);
  REQUIRE(bytes.size() == 1'100'000);
  CHECK((bytes == std::string(1'100'000, bytes[0])));
  CHECK(files_in(folder.file("")) == 1);
}

TEST_CASE("AtomicFile refuses what is no file's name", "[io]") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(AtomicFile(folder.file("")), Error);
  CHECK_THROWS_AS(AtomicFile(folder.file("none/file")), Error);
  CHECK_THROWS_AS(AtomicFile(""), Error);
}

}  // namespace
}  // namespace polarquant::test
