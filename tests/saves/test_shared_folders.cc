// SPDX-License-Identifier: MIT
// Saves to one path by several processes at once, and to folders that take no files.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/saves/saved_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

/// A process that does this and tells by its exit status whether it went well.
pid_t start(const std::function<bool()>& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(work() ? 0 : 1);
  return child;
}

void check_went_well(pid_t child) {
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

/// In a process without the rights of root, which modes of files do not bind.
void check_as_plain_user(const std::function<bool()>& work) {
  check_went_well(start([&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return false;
    return work();
  }));
}

void set_mode(const std::string& path, mode_t mode) { REQUIRE(chmod(path.c_str(), mode) == 0); }

}  // namespace

TEST_CASE("processes that save to one path leave one of their files", "[saves]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("index", old_and_new().old_bytes());
  const auto save_often = [&](const polar_index* index) {
    for (int i = 0; i < 20; ++i) {
      if (polar_index_save(index, path.c_str(), nullptr) != POLAR_OK) return false;
    }
    return true;
  };
  const auto load_often = [&] {
    for (int i = 0; i < 40; ++i) {
      polar_load_options options;
      polar_load_options_init(&options);
      options.memory_map = i % 2;
      polar_index* loaded = nullptr;
      if (polar_index_load(path.c_str(), &options, &loaded) != POLAR_OK) return false;
      if (polar_index_verify(loaded) != POLAR_OK) return false;
      polar_index_destroy(loaded);
    }
    return true;
  };
  const pid_t processes[] = {start([&] { return save_often(old_and_new().old_one()); }),
                             start([&] { return save_often(old_and_new().new_one()); }),
                             start([&] { return save_often(old_and_new().new_one()); }),
                             start(load_often)};
  for (const pid_t process : processes) check_went_well(process);
  const std::string bytes = file_bytes(path);
  CHECK((bytes == old_and_new().old_bytes() || bytes == old_and_new().new_bytes()));
  CHECK(names_in(folder.file("")) == std::vector<std::string>{"index"});
}

TEST_CASE("a folder that takes no files is left alone, and the text names it", "[saves]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("index", old_and_new().old_bytes());
  set_mode(path, 0644);
  set_mode(folder.file(""), 0555);
  check_as_plain_user([&] {
    return polar_index_save(old_and_new().new_one(), path.c_str(), nullptr) == POLAR_ERROR_IO &&
           last_error().find(path) != std::string::npos &&
           polar_index_save(old_and_new().new_one(), folder.file("other").c_str(), nullptr) ==
               POLAR_ERROR_IO;
  });
  set_mode(folder.file(""), 0700);
  CHECK((file_bytes(path) == old_and_new().old_bytes()));
  CHECK(names_in(folder.file("")) == std::vector<std::string>{"index"});
}

TEST_CASE("a folder that others may not list can be saved to", "[saves]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  set_mode(folder.file(""), 0777);
  check_as_plain_user(
      [&] { return polar_index_save(old_and_new().old_one(), path.c_str(), nullptr) == POLAR_OK; });
  set_mode(folder.file(""), 0733);
  check_as_plain_user(
      [&] { return polar_index_save(old_and_new().new_one(), path.c_str(), nullptr) == POLAR_OK; });
  set_mode(folder.file(""), 0700);
  CHECK((file_bytes(path) == old_and_new().new_bytes()));
  CHECK(names_in(folder.file("")) == std::vector<std::string>{"index"});
}

TEST_CASE("a file that may not be read is refused, and so is what is no file", "[saves]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("index", old_and_new().old_bytes());
  set_mode(folder.file(""), 0755);
  set_mode(path, 0000);
  check_as_plain_user([&] {
    polar_index* loaded = nullptr;
    return polar_index_load(path.c_str(), nullptr, &loaded) == POLAR_ERROR_IO &&
           loaded == nullptr && last_error().find(path) != std::string::npos;
  });
  check_failed(polar_index_save(old_and_new().new_one(), folder.file("").c_str(), nullptr),
               POLAR_ERROR_IO, {folder.file("")});
  check_failed(polar_index_save(old_and_new().new_one(), "/dev/null", nullptr), POLAR_ERROR_IO,
               {"/dev/null"});
  CHECK(names_in(folder.file("")) == std::vector<std::string>{"index"});
}

}  // namespace polarquant::test
