// SPDX-License-Identifier: MIT
#include "bench/recall/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace polarquant::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kRedraw{100};
constexpr milliseconds kLogLine{10000};
constexpr int kBarWidth = 30;

}  // namespace

Progress::Progress(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1), start_(steady_clock::now()) {
  last_ = start_;
}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& text, bool force) {
  const auto now = steady_clock::now();
  if (terminal_) {
    if (!force && drawn_ && now - last_ < kRedraw) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    drawn_ = true;
  } else {
    if (now - last_ < kLogLine) return;
    fmt::print(stderr, "{}\n", text);
  }
  last_ = now;
}

void Progress::update(int64_t done, int64_t total) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0)
                : 1.0;
  const auto filled = static_cast<size_t>(share * kBarWidth);
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  const std::chrono::duration<double> spent = steady_clock::now() - start_;
  show(fmt::format("{} [{}] {:3.0f} % {:.0f} s", label_, bar, share * 100, spent.count()),
       done == total);
}

void Progress::step(const std::string& name) { show(label_ + ": " + name, true); }

OnProgress shared_progress(const std::string& label) {
  auto progress = std::make_shared<Progress>(label);
  return [progress](int64_t done, int64_t total) { progress->update(done, total); };
}

}  // namespace polarquant::bench
