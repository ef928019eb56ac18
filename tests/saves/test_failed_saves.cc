// SPDX-License-Identifier: MIT
// Each system call of a save, and of a load, fails one by one: the status tells it, the old file is
// as it was, and the folder has nothing beside it.
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/saves/failing_calls.h"
#include "tests/saves/saved_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr const char* kCalls[] = {"open",   "write",     "fsync", "close", "rename", "linkat",
                                  "fchmod", "ftruncate", "fstat", "mmap",  "read"};

/// With an old file, and nothing else.
class Folder {
 public:
  Folder() : path_(folder_.write("index", old_and_new().old_bytes())) {}

  const std::string& path() const { return path_; }
  void check_nothing_beside() const {
    CHECK(names_in(folder_.file("")) == std::vector<std::string>{"index"});
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

polar_status save_with_fault(const Folder& folder, const char* call, int at, int error,
                             int* calls = nullptr) {
  fault_begin(call, at, error);
  const polar_status status =
      polar_index_save(old_and_new().new_one(), folder.path().c_str(), nullptr);
  const int counted = fault_end();
  if (calls != nullptr) *calls = counted;
  return status;
}

int calls_of_save(const char* call) {
  int calls = 0;
  require_ok(save_with_fault(Folder(), call, -1, 0, &calls));
  return calls;
}

std::size_t open_files() { return names_in("/proc/self/fd").size(); }

}  // namespace

TEST_CASE("the calls of a save go through the test program", "[saves]") {
  CHECK(calls_of_save("open") >= 2);
  CHECK(calls_of_save("write") >= 3);
  CHECK(calls_of_save("fsync") >= 1);
  CHECK(calls_of_save("rename") == 1);
}

TEST_CASE("a save of which one call fails leaves the old file alone", "[saves]") {
  const std::size_t files = open_files();
  for (const char* call : kCalls) {
    const int calls = calls_of_save(call);
    for (int at = 0; at < calls; ++at) {
      for (const int error : {ENOSPC, EIO, EACCES, ENOMEM}) {
        INFO(call << " number " << at << " of " << calls << ": errno " << error);
        const Folder folder;
        const polar_status status = save_with_fault(folder, call, at, error);
        INFO("status: " << polar_status_name(status) << ", text: " << last_error());
        folder.check_nothing_beside();
        CHECK(open_files() == files);
        const std::string parent = std::filesystem::path(folder.path()).parent_path();
        if (status != POLAR_OK) check_failed(status, POLAR_ERROR_IO, {parent});
        // Only what comes after the renaming may fail with the new file there, and then says so.
        const bool is_replaced = status == POLAR_OK ||
                                 last_error().find("the new file is in place") != std::string::npos;
        CHECK((file_bytes(folder.path()) ==
               (is_replaced ? old_and_new().new_bytes() : old_and_new().old_bytes())));
        // Rights of the old file are kept where the system allows it, and the last file closed is
        // the folder; all else must be told.
        const bool may_pass =
            call == std::string("fchmod") || (call == std::string("close") && at == calls - 1);
        CHECK((status != POLAR_OK || may_pass));
      }
    }
  }
}

TEST_CASE("a save that fails where there was no file leaves none", "[saves]") {
  for (const char* call : kCalls) {
    const int calls = calls_of_save(call);
    for (int at = 0; at < calls; ++at) {
      INFO(call << " number " << at);
      const TemporaryFolder folder;
      fault_begin(call, at, ENOSPC);
      const polar_status status =
          polar_index_save(old_and_new().new_one(), folder.file("index").c_str(), nullptr);
      fault_end();
      const bool is_made =
          status == POLAR_OK || last_error().find("the new file is in place") != std::string::npos;
      CHECK(names_in(folder.file("")).size() == (is_made ? 1 : 0));
    }
  }
}

TEST_CASE("a save goes on after writes cut short and interrupted calls", "[saves]") {
  for (const char* call : kCalls) {
    const int calls = calls_of_save(call);
    for (int at = 0; at < calls; ++at) {
      const bool transfers = call == std::string("write") || call == std::string("read");
      for (const int error : {EINTR, FAULT_SHORT}) {
        if (error == FAULT_SHORT && !transfers) continue;
        // Only these wait, so that signals interrupt them.
        if (error == EINTR && !transfers && call != std::string("open") &&
            call != std::string("fsync") && call != std::string("close")) {
          continue;
        }
        INFO(call << " number " << at << ": " << error);
        const Folder folder;
        require_ok(save_with_fault(folder, call, at, error));
        CHECK((file_bytes(folder.path()) == old_and_new().new_bytes()));
        folder.check_nothing_beside();
      }
    }
  }
}

TEST_CASE("a load of which one call fails says so and leaves nothing open", "[saves]") {
  const Folder folder;
  const std::size_t files = open_files();
  for (const int32_t memory_map : {0, 1}) {
    polar_load_options options;
    polar_load_options_init(&options);
    options.memory_map = memory_map;
    const auto load = [&](polar_index** loaded) {
      return polar_index_load(folder.path().c_str(), &options, loaded);
    };
    for (const char* call : kCalls) {
      fault_begin(call, -1, 0);
      polar_index* loaded = nullptr;
      require_ok(load(&loaded));
      const int calls = fault_end();
      polar_index_destroy(loaded);
      for (int at = 0; at < calls; ++at) {
        for (const int error : {EIO, EACCES, FAULT_SHORT}) {
          const bool reads = call == std::string("read");
          if (error == FAULT_SHORT && !reads) continue;
          INFO(call << " number " << at << " of " << calls << ", map " << memory_map);
          fault_begin(call, at, error);
          const polar_status status = load(&loaded);
          fault_end();
          INFO("status: " << polar_status_name(status) << ", text: " << last_error());
          // Of a file that was read only, nothing is lost when closing it fails.
          const bool works = error == FAULT_SHORT || call == std::string("close");
          CHECK(status == (works ? POLAR_OK : POLAR_ERROR_IO));
          CHECK((loaded != nullptr) == works);
          if (loaded != nullptr) CHECK(polar_index_ntotal(loaded) == 8000);
          polar_index_destroy(loaded);
          CHECK(open_files() == files);
        }
      }
    }
  }
}

}  // namespace polarquant::test
