// SPDX-License-Identifier: MIT
// When a mapped file's parts are asked for before they are read.
#include <string>

#include "src/io/mapped_file.h"
#include "src/io/read_ahead.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace polarquant::test {
namespace {

int wanted_in_a_row(ReadAhead& ahead) {
  int wanted = 0;
  while (wanted < 10'000 && ahead.is_wanted()) ++wanted;
  return wanted;
}

TEST_CASE("it asks at first, and after a page was missing, and then no more", "[io]") {
  ReadAhead ahead;
  // A wait of this process for another page, as it may come, begins it anew.
  const int first = wanted_in_a_row(ahead);
  CHECK(first >= 64);
  CHECK(first < 10'000);
  ahead.tell_missing();
  CHECK(wanted_in_a_row(ahead) >= 64);
}

TEST_CASE("any bytes of a mapped file can be asked for", "[io]") {
  const TemporaryFolder folder;
  const std::string bytes(300'001, 'x');
  const MappedFile file(folder.write("file", bytes));
  file.expect_scattered(4096, bytes.size() - 4096);
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{4095}, size_t{5000}, bytes.size() - 1}) {
    file.read_ahead(offset, bytes.size() - offset);
    CHECK(file.data()[offset] == 'x');
    CHECK(file.is_resident(offset));
  }
  file.release_pages();
  CHECK(file.data()[bytes.size() - 1] == 'x');
}

}  // namespace
}  // namespace polarquant::test
