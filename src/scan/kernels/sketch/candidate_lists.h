// SPDX-License-Identifier: MIT
// Lists of rows that the first stage left, with their bounds.
#pragma once

#include <cstdint>

namespace polarquant {

/// Kernels write whole registers: capacity that they need behind a list.
inline constexpr int kListPadding = 16;

/// Borrowed.
struct CandidateList {
  uint32_t* candidates = nullptr;  // sketch_candidates.h
  float* bounds = nullptr;
  int count = 0;
};

/// Moves the candidates whose bound is at least `bound` behind `taken`'s, in order; the others
/// close ranks.
void take_reaching(float bound, CandidateList* list, CandidateList* taken);

}  // namespace polarquant
