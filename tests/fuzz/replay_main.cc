// SPDX-License-Identifier: MIT
// A fuzz target as a plain test: runs it over the files of the folders named, and over each of them
// cut short. No libFuzzer is needed.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"

namespace {

// The longest that one input may take, against endless loops.
constexpr unsigned kSeconds = 60;

std::string g_input;

void tell_input(int signal_number) {
  const std::string text = "\nthe input is " + g_input + "\n";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(1);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void run(const std::vector<uint8_t>& bytes) {
  // A copy of its own for each, so that sanitizers see what is read after it.
  const std::vector<uint8_t> copy(bytes);
  alarm(kSeconds);
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  alarm(0);
}

}  // namespace

int main(int count, char** folders) {
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    signal(number, tell_input);
  }
  size_t inputs = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::exists(folders[i])) continue;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folders[i])) {
      paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
      std::ifstream file(path, std::ios::binary);
      std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
      g_input = path.string();
      run(bytes);
      for (const size_t parts : {2, 3, 7}) {
        g_input = path.string() + ", its first part of " + std::to_string(parts);
        run({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / parts)});
      }
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
