// SPDX-License-Identifier: MIT
// What POSIX systems have besides: processes that are stopped, signals, rights, links, folders'
// syncs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "src/core/status.h"
#include "src/io/atomic_file.h"
#include "tests/io/written_files.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace {

int interrupted_syncs = 0;   // so many of the next fail as a signal makes them
int error_of_folders = 0;    // with which syncs of folders fail
int error_of_the_files = 0;  // with which syncs of files fail

}  // namespace

/// In the place of the system's.
extern "C" int fsync(int descriptor) {
  struct stat info = {};
  fstat(descriptor, &info);
  errno = S_ISDIR(info.st_mode) ? error_of_folders : error_of_the_files;
  if (interrupted_syncs > 0) {
    --interrupted_syncs;
    errno = EINTR;
  }
  if (errno != 0) return -1;
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace polarquant::test {
namespace {

bool has_unnamed_files(const std::string& folder) {
#ifdef O_TMPFILE
  const int file = open(folder.c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (file >= 0) close(file);
  return file >= 0;
#else
  return folder.empty();
#endif
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
    // Not even a temporary file, where files need no name.
    if (has_unnamed_files(folder.file(""))) CHECK(files_in(folder.file("")) == 1);
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

TEST_CASE("A sync that a signal interrupts is done again", "[io]") {
  const TemporaryFolder folder;
  interrupted_syncs = 3;
  replace(folder.file("file"), "new");
  CHECK(interrupted_syncs == 0);
  CHECK(contents(folder.file("file")) == "new");
}

TEST_CASE("A sync that fails tells which file is there", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  error_of_the_files = EIO;
  CHECK_THROWS_AS(replace(path, "new"), Error);
  error_of_the_files = 0;
  CHECK(contents(path) == "old");
  CHECK(files_in(folder.file("")) == 1);
  error_of_folders = EIO;
  std::string text;
  try {
    replace(path, "new");
  } catch (const Error& error) {
    text = error.what();
    CHECK(error.code() == StatusCode::io);
  }
  CHECK(text.find("the new file is in place") != std::string::npos);
  CHECK(contents(path) == "new");
  CHECK(files_in(folder.file("")) == 1);
  error_of_folders = EINVAL;  // of file systems that sync no folders
  replace(path, "newer");
  error_of_folders = 0;
  CHECK(contents(path) == "newer");
}

TEST_CASE("AtomicFile follows links to what is not there yet", "[io]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("other"));
  std::filesystem::create_symlink("other/second", folder.file("first"));
  std::filesystem::create_symlink("../target", folder.file("other/second"));
  replace(folder.file("first"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("first")));
  CHECK(std::filesystem::is_symlink(folder.file("other/second")));
  CHECK(contents(folder.file("target")) == "new");
  std::filesystem::create_symlink("loop", folder.file("loop"));
  CHECK_THROWS_AS(AtomicFile(folder.file("loop")), Error);
  CHECK(files_in(folder.file("")) == 4);
  CHECK(files_in(folder.file("other")) == 1);
}

TEST_CASE("AtomicFile takes every name that the system takes", "[io]") {
  const TemporaryFolder folder;
  for (const std::string& name : {std::string(255, 'n'), std::string("caf\xe9\xff")}) {
    replace(folder.file(name), "new");
    CHECK(contents(folder.file(name)) == "new");
  }
  CHECK_THROWS_AS(AtomicFile(folder.file(std::string(256, 'n'))), Error);
  CHECK(files_in(folder.file("")) == 2);
  std::string deep = folder.file("deep");
  while (deep.size() + 201 < 4090) deep += "/" + std::string(200, 'd');
  std::filesystem::create_directories(deep);
  const std::string path = deep + "/" + std::string(4094 - deep.size(), 'n');
  replace(path, "new");
  CHECK(contents(path) == "new");
}

TEST_CASE("AtomicFile needs no right to read the folder", "[io]") {
  const TemporaryFolder folder;
  REQUIRE(chmod(folder.file("").c_str(), 0300) == 0);
  replace(folder.file("file"), "new");
  CHECK(contents(folder.file("file")) == "new");
  REQUIRE(chmod(folder.file("").c_str(), 0700) == 0);
  CHECK(files_in(folder.file("")) == 1);
}

TEST_CASE("Of processes that write one file each writes it whole", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("file");
  std::vector<pid_t> children;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    children.push_back(fork());
    REQUIRE(children.back() >= 0);
    if (children.back() == 0) {
      for (int turn = 0; turn < 20; ++turn) replace(path, std::string(1'100'000, letter));
      _exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    const std::string bytes = contents(path);
    CHECK((bytes == std::string(1'100'000, bytes[0])));
  }
  CHECK(files_in(folder.file("")) == 1);
}

TEST_CASE("AtomicFile refuses devices", "[io]") { CHECK_THROWS_AS(AtomicFile("/dev/null"), Error); }

}  // namespace
}  // namespace polarquant::test
