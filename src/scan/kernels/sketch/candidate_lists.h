// SPDX-License-Identifier: MIT
// Lists of the first stage's candidates, with their bounds.
#pragma once

#include <cstdint>

namespace polarquant {

/// Kernels write whole registers: the space they need after a list.
inline constexpr int kListPadding = 16;

/// Borrowed.
struct CandidateList {
  uint32_t* candidates = nullptr;  // sketch_candidates.h
  float* bounds = nullptr;
  int count = 0;
};

/// Moves the candidates whose bound is at least `bound` to the end of `taken`, in order; the others
/// close the gaps.
void take_reaching(float bound, CandidateList* list, CandidateList* taken);

}  // namespace polarquant
