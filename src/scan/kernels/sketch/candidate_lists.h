// SPDX-License-Identifier: MIT
// Lists of rows that the first stage left, with their bounds.
#pragma once

#include <cstdint>

namespace polarquant {

/// Kernels write whole registers: room that they need behind a list.
inline constexpr int kListSlack = 16;

/// Borrowed.
struct SurvivorList {
  uint32_t* survivors = nullptr;  // sketch_candidates.h
  float* bounds = nullptr;
  int count = 0;
};

/// Moves the survivors whose bound is at least `bound` behind `taken`'s, in order; the others close
/// ranks.
void take_reaching(float bound, SurvivorList* list, SurvivorList* taken);

}  // namespace polarquant
