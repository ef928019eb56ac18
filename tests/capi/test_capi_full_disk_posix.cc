// SPDX-License-Identifier: MIT
// A save that the system refuses at some byte leaves the file that was there.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"
#include "tests/support/temporary_folder.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 300;

IndexHandle filled(const char* description) {
  const std::vector<float> rows = normal_rows(kRows, kDim, 1);
  IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
  // Untrained, so few rows would be floats.
  require_ok(polar_index_train(index.get(), kRows, rows.data(), nullptr));
  require_ok(polar_index_add(index.get(), kRows, rows.data(), nullptr));
  return index;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("A disk that is full leaves the old file and nothing else", "[capi][io]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("index");
  const IndexHandle old = filled("Polar2");
  require_ok(polar_index_save(old.get(), path.c_str(), nullptr));
  const std::string before = contents(path);
  const IndexHandle index = filled("Polar8");
  const std::string whole = folder.file("whole");
  require_ok(polar_index_save(index.get(), whole.c_str(), nullptr));
  const std::string expected = contents(whole);
  std::filesystem::remove(whole);

  struct rlimit limit = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (size_t allowed = 0; allowed < expected.size(); allowed += 509) {
    struct rlimit smaller = limit;
    smaller.rlim_cur = allowed;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &smaller) == 0);
    const polar_status status = polar_index_save(index.get(), path.c_str(), nullptr);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(status == POLAR_ERROR_IO);
    REQUIRE((contents(path) == before));
    const auto files = std::distance(
        std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()),
        std::filesystem::directory_iterator());
    REQUIRE(files == 1);
  }
  std::signal(SIGXFSZ, old_handler);
  require_ok(polar_index_save(index.get(), path.c_str(), nullptr));
  CHECK((contents(path) == expected));
}
