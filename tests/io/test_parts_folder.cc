// SPDX-License-Identifier: MIT
// The folder of a file's parts: one builder at a time, and which parts there are.
#include "src/io/parts_folder.h"

#include <filesystem>
#include <memory>
#include <string>

#include "src/core/status.h"
#include "tests/io/written_files.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

using Opening = PartsFolder::Opening;

TEST_CASE("a folder of parts is of one builder at a time", "[io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("caf\xc3\xa9");
  CHECK_THROWS_AS(PartsFolder(path, Opening::existing), Error);
  {
    const PartsFolder parts(path, Opening::make);
    CHECK_THROWS_WITH(PartsFolder(path, Opening::make),
                      Catch::Matchers::ContainsSubstring("in use by another builder"));
    replace(parts.state_path(), "state");
  }
  const PartsFolder again(path, Opening::existing);
  CHECK(again.has_state());
}

TEST_CASE("parts are numbered from 1, and go with their folder", "[io]") {
  const TemporaryFolder folder;
  auto parts = std::make_unique<PartsFolder>(folder.file("file"), Opening::make);
  replace(parts->state_path(), "state");
  for (int64_t number = 1; number <= 3; ++number) replace(parts->part_path(number), "part");
  CHECK(parts->count() == 3);
  std::filesystem::remove(platform::path_of(parts->part_path(2)));
  CHECK_THROWS_WITH(parts->count(), Catch::Matchers::ContainsSubstring("part 2 of 3 is missing"));
  parts->clear();
  CHECK(parts->count() == 0);
  CHECK(!parts->has_state());
  parts->remove();
  parts.reset();
  const bool is_empty = files_in(folder.file("")) == 0;
  // Windows keeps the folder of a file that is open, and some versions of it the file too.
  const bool has_folder = !is_empty && files_in(folder.file("file.parts")) == 0;
  CHECK((is_empty || has_folder));
}

}  // namespace
}  // namespace polarquant::test
