// SPDX-License-Identifier: MIT
// Builds in parts whose process is killed, or whose system calls fail: whoever goes on with them
// gets the file of one index, and what lay at its place stays until then.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "src/core/random.h"
#include "tests/capi/built_files.h"
#include "tests/saves/failing_calls.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int64_t kPieceRows = 500;

const BuiltRows& rows() {
  static const BuiltRows made(4000, 64);
  return made;
}

const IndexHandle& trained() {
  static const IndexHandle made = rows().trained("IVF5,Polar4", POLAR_METRIC_L2);
  return made;
}

const std::string& whole_file() {
  static const std::string bytes = [] {
    const TemporaryFolder folder;
    const IndexHandle whole = clone(trained());
    rows().add(whole, true, 0, rows().count());
    save(whole, folder.file("whole"));
    return bytes_of(folder.file("whole"));
  }();
  return bytes;
}

/// Goes on with the build, or begins it, and writes a part for each piece. POLAR_OK when the file
/// is whole.
polar_status build(const std::string& path) {
  polar_builder* opened = nullptr;
  polar_status status = polar_builder_resume(path.c_str(), nullptr, &opened);
  if (status == POLAR_ERROR_NOT_FOUND)
    status = polar_builder_create(trained().get(), path.c_str(), nullptr, &opened);
  if (status != POLAR_OK) return status;
  const BuilderHandle builder(opened);
  for (int64_t first; (first = polar_builder_ntotal(builder.get())) < rows().count();) {
    const std::vector<int64_t> ids = BuiltRows::ids(first, first + kPieceRows);
    status = polar_builder_add_with_ids(builder.get(), kPieceRows, rows().row(first), ids.data(),
                                        nullptr);
    if (status == POLAR_OK) status = polar_builder_write_part(builder.get());
    if (status != POLAR_OK) return status;
  }
  return polar_builder_finish(builder.get(), nullptr);
}

/// In a process of its own, which meets a fault at its call number `at`, or is killed after so many
/// microseconds. Whether it was killed.
bool build_killed(const std::string& path, int at, int64_t microseconds) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (at >= 0) fault_begin("", at, FAULT_KILL);
    _exit(build(path));
  }
  if (microseconds > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    kill(child, SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == POLAR_OK));
  return WIFSIGNALED(status);
}

int calls_of_build() {
  const TemporaryFolder folder;
  fault_begin("", -1, 0);
  require_ok(build(folder.file("built")));
  return fault_end();
}

void check_finished(const TemporaryFolder& folder, const std::string& path) {
  require_ok(build(path));
  CHECK((bytes_of(path) == whole_file()));
  CHECK(!std::filesystem::exists(path + ".parts"));
  // A kill within the merge leaves what it had written.
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    const std::string name = entry.path().filename().string();
    CHECK((name == "built" || name.starts_with(".polar-")));
  }
}

}  // namespace

TEST_CASE("a build killed in front of any of its calls goes on to the same file", "[saves]") {
  const int calls = calls_of_build();
  REQUIRE(calls > 50);
  for (int at = 0; at < calls; ++at) {
    INFO("call " << at << " of " << calls);
    const TemporaryFolder folder;
    const std::string path = folder.write("built", "an old file");
    CHECK(build_killed(path, at, 0));
    const std::string bytes = bytes_of(path);
    CHECK((bytes == "an old file" || bytes == whole_file()));
    check_finished(folder, path);
  }
}

TEST_CASE("a build killed again and again comes to its end", "[saves]") {
  Random random(5);
  for (int build_number = 0; build_number < 5; ++build_number) {
    const TemporaryFolder folder;
    const std::string path = folder.file("built");
    for (int64_t most = 20'000; build_killed(path, -1, 1 + random.below(most)); most += 5'000) {
    }
    CHECK((bytes_of(path) == whole_file()));
    CHECK(!std::filesystem::exists(path + ".parts"));
  }
}

TEST_CASE("a build of which one call fails goes on when the next one works", "[saves]") {
  for (const char* call : {"open", "write", "fsync", "close", "rename", "mmap", "read"}) {
    const TemporaryFolder first;
    fault_begin(call, -1, 0);
    require_ok(build(first.file("built")));
    const int calls = fault_end();
    for (int at = 0; at < calls; ++at) {
      INFO(call << " number " << at << " of " << calls);
      const TemporaryFolder folder;
      const std::string path = folder.file("built");
      fault_begin(call, at, ENOSPC);
      const polar_status status = build(path);
      fault_end();
      INFO("status: " << polar_status_name(status) << ", text: " << last_error());
      CHECK((status == POLAR_OK || status == POLAR_ERROR_IO));
      check_finished(folder, path);
    }
  }
}

}  // namespace polarquant::test
