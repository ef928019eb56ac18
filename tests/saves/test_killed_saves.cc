// SPDX-License-Identifier: MIT
// Processes that are killed while they save: the file is whole, the old one or the new one.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "src/core/random.h"
#include "tests/saves/failing_calls.h"
#include "tests/saves/saved_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

/// Removes what the killed process left; its names are as the header says.
void remove_leftovers(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (name == "index") continue;
    CHECK(name.rfind(".polar-", 0) == 0);
    std::filesystem::remove(folder + "/" + name);
  }
}

void check_whole(const std::string& path) {
  const std::string bytes = file_bytes(path);
  CHECK((bytes == old_and_new().old_bytes() || bytes == old_and_new().new_bytes()));
}

/// Kills processes that save one index over the other without end.
void kill_often(int kills) {
  const TemporaryFolder folder;
  const std::string path = folder.write("index", old_and_new().old_bytes());
  const polar_index* const indexes[] = {old_and_new().new_one(), old_and_new().old_one()};
  Random random(1);
  for (int i = 0; i < kills; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (size_t saves = 0;; ++saves) {
        if (polar_index_save(indexes[saves % 2], path.c_str(), nullptr) != POLAR_OK) _exit(1);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(20'000)));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    check_whole(path);
    remove_leftovers(folder.file(""));
  }
}

}  // namespace

TEST_CASE("a process killed in front of any call of a save leaves a whole file", "[saves]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("index", old_and_new().old_bytes());
  fault_begin("", -1, 0);
  require_ok(polar_index_save(old_and_new().new_one(), path.c_str(), nullptr));
  const int calls = fault_end();
  REQUIRE(calls > 5);
  for (int at = 0; at < calls; ++at) {
    INFO("call " << at << " of " << calls);
    folder.write("index", old_and_new().old_bytes());
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      fault_begin("", at, FAULT_KILL);
      _exit(polar_index_save(old_and_new().new_one(), path.c_str(), nullptr));
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    check_whole(path);
    remove_leftovers(folder.file(""));
    // Nothing is in the way of the next save.
    require_ok(polar_index_save(old_and_new().new_one(), path.c_str(), nullptr));
    CHECK(names_in(folder.file("")).size() == 1);
  }
}

TEST_CASE("processes killed at any time leave a whole file", "[saves]") { kill_often(50); }

TEST_CASE("a thousand processes killed at any time leave a whole file", "[saves][slow]") {
  kill_often(1000);
}

}  // namespace polarquant::test
