// SPDX-License-Identifier: MIT
// Runs the tests where there is a device; elsewhere it says why not, and returns what ctest takes
// for "skipped". What does not need a device is tested all the same.
#include <iostream>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#define CATCH_CONFIG_RUNNER
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  int32_t devices = 0;
  if (polar_cuda_device_count(&devices) == POLAR_OK) return Catch::Session().run(argc, argv);
  std::string text(polar_last_error(nullptr, 0) + 1, ' ');
  polar_last_error(text.data(), text.size());
  text.pop_back();
  std::string program = argv[0];
  std::string only = "[no-device]";
  std::vector<char*> arguments = {program.data(), only.data()};
  const int failed = Catch::Session().run(static_cast<int>(arguments.size()), arguments.data());
  if (failed != 0) return failed;
  std::cout << "skipped: tests that need a CUDA device (" << text << ")\n";
  return kSkipped;
}
