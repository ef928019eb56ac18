// SPDX-License-Identifier: MIT
// A child of fork() searches, though none of its parent's threads are there.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

TEST_CASE("a forked child searches without hanging", "[capi]") {
  constexpr int64_t kRows = 300;
  constexpr int64_t kQueries = 4;
  constexpr int64_t kResults = 10;
  const CodecHandle codec = make_codec("Polar2", 40, POLAR_METRIC_L2, nullptr);
  const std::vector<float> x = normal_rows(kRows, 40, 1, 0.5);
  require_ok(polar_codec_train(codec.get(), kRows, x.data(), nullptr));
  const std::vector<uint8_t> codes = encode(codec, kRows, x);
  polar_search_options options;
  polar_search_options_init(&options);
  options.num_threads = 2;
  std::vector<float> scores(kQueries * kResults);
  std::vector<int64_t> ids(kQueries * kResults);
  const auto search = [&] {
    return polar_codec_search(codec.get(), kQueries, x.data(), kRows, codes.data(), codes.size(),
                              kResults, &options, scores.data(), ids.data());
  };
  require_ok(search());  // there are threads now
  const std::vector<float> expected_scores = scores;
  const std::vector<int64_t> expected_ids = ids;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang ends the child by a signal, which the parent sees
    const bool ok = search() == POLAR_OK && scores == expected_scores && ids == expected_ids;
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
