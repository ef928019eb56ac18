// SPDX-License-Identifier: MIT
// How far long work is, on standard error: a bar on a terminal, else a line now and then, so that a
// log stays short. Standard output is left to results.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

/// One job. The bar is wiped when the object ends, so that what is printed next stands alone.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// 0 ≤ done ≤ total; cheap enough for every block of rows.
  void update(int64_t done, int64_t total);
  /// A step without a known length: shown as label and name alone.
  void step(const std::string& name);

 private:
  void show(const std::string& text, bool force);

  std::string label_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

/// A Progress that lives as long as the returned function.
OnProgress shared_progress(const std::string& label);

}  // namespace polarquant::bench
