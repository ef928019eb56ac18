// SPDX-License-Identifier: MIT
#include "bench/recall/folded_stderr.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace polarquant::bench {
namespace {

int open_unnamed_file() {
  std::array<char, 32> name = {"/tmp/polar-recall-XXXXXX"};
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) unlink(name.data());
  return descriptor;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> block = {};
  lseek(descriptor, 0, SEEK_SET);
  for (ssize_t got = 0; (got = read(descriptor, block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

FoldedStderr::FoldedStderr() {
  std::fflush(stderr);
  kept_ = open_unnamed_file();
  if (kept_ < 0) return;
  original_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (original_ >= 0) dup2(kept_, STDERR_FILENO);
}

FoldedStderr::~FoldedStderr() {
  if (original_ >= 0) {
    std::fflush(stderr);
    dup2(original_, STDERR_FILENO);
    close(original_);
    std::vector<std::pair<std::string, int>> counts;  // in the order of first appearance
    const std::string text = read_all(kept_);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      const auto known = std::find_if(counts.begin(), counts.end(),
                                      [&](const auto& entry) { return entry.first == line; });
      if (known != counts.end()) {
        ++known->second;
      } else {
        counts.emplace_back(line, 1);
      }
      at = end + 1;
    }
    // In place of a progress line, which comes back by itself.
    if (!counts.empty() && isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
    for (const auto& [line, count] : counts) {
      fmt::print(stderr, "{}{}\n", line, count > 1 ? fmt::format(" ({} times)", count) : "");
    }
  }
  if (kept_ >= 0) close(kept_);
}

}  // namespace polarquant::bench
