// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "bench/micro/micro.h"

namespace {

/// The flag that Google Benchmark does not know: taken out of the arguments.
constexpr std::string_view kRowsFlag = "--search_rows=";

bool take_rows(int* argc, char** argv, int64_t* rows) {
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kRowsFlag.size()) != kRowsFlag) {
      argv[kept++] = argv[i];
      continue;
    }
    const char* end = argument.data() + argument.size();
    const auto parsed = std::from_chars(argument.data() + kRowsFlag.size(), end, *rows);
    if (parsed.ptr != end || *rows < 64 || *rows % 64 != 0) {
      std::fprintf(stderr, "%s: a multiple of 64 is needed, as --search_rows=43000000\n", argv[i]);
      return false;
    }
  }
  *argc = kept;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // Beyond the third-level cache of most machines; 43 million rows are 4.3 GB of Polar2.
  int64_t search_rows = int64_t{1} << 21;
  if (!take_rows(&argc, argv, &search_rows)) return 1;
  for (void (*const register_family)() :
       {polarquant::micro::register_centroid_searches, polarquant::micro::register_encode_kernels,
        polarquant::micro::register_rotate_kernels, polarquant::micro::register_scan_kernels}) {
    register_family();
  }
  polarquant::micro::register_searches(search_rows);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
