// SPDX-License-Identifier: MIT
// A file appears whole or not at all: whatever happens before commit() leaves the old one.
#include "src/io/atomic_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "src/core/status.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

void replace(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

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
  replace(path, large);
  CHECK((contents(path) == large));
  replace(folder.file("new"), "");
  CHECK(contents(folder.file("new")).empty());
  CHECK(files_in(folder.file("")) == 2);
}

TEST_CASE("A process that stops at any byte leaves the old file", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  for (const size_t bytes : {0, 1, 1'000'000, 1'048'576, 2'500'000}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      AtomicFile file(path);
      const std::string data(bytes, 'y');
      file.write(data.data(), data.size());
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(contents(path) == "old");
  }
  replace(path, "new");
  CHECK(contents(path) == "new");
}

TEST_CASE("AtomicFile keeps a file's rights and a link's name", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const std::string link = folder.file("link");
  std::filesystem::create_symlink(path, link);
  replace(link, "new");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(contents(path) == "new");
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
}

TEST_CASE("AtomicFile refuses what is no file's name", "[io]") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(AtomicFile(folder.file("")), Error);
  CHECK_THROWS_AS(AtomicFile("/dev/null"), Error);
  CHECK_THROWS_AS(AtomicFile(folder.file("none/file")), Error);
  CHECK_THROWS_AS(AtomicFile(""), Error);
}

}  // namespace
}  // namespace polarquant::test
