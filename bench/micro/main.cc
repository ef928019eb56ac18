// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include "bench/micro/micro.h"

int main(int argc, char** argv) {
  for (void (*const register_family)() :
       {polarquant::micro::register_encode_kernels, polarquant::micro::register_rotate_kernels,
        polarquant::micro::register_scan_kernels}) {
    register_family();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
