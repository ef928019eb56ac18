// SPDX-License-Identifier: MIT
// FAISS warns on standard error once for each of a product quantizer's parts: the same line some
// hundred times. While this object lives, such lines are kept; at its end each is printed once.
#pragma once

namespace polarquant::bench {

/// Takes over the process's standard error: one object at a time. Does nothing where it cannot.
class FoldedStderr {
 public:
  FoldedStderr();
  ~FoldedStderr();
  FoldedStderr(const FoldedStderr&) = delete;
  FoldedStderr& operator=(const FoldedStderr&) = delete;

 private:
  int original_ = -1;  // a copy of the true standard error
  int kept_ = -1;      // an unnamed file standing in for it
};

}  // namespace polarquant::bench
