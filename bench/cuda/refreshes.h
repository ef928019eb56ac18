// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/synthetic_rows.h"

namespace polarquant::bench {

struct RefreshRun {
  std::string spec;
  int64_t lists;  // of an inverted file; 0: without
  int64_t rows;
  int dim;
  std::vector<int64_t> added;  // rows that are added before a copy follows
  int64_t results;             // k
};

/// Prints how long a copy takes to follow its index after rows were added, beside a new copy, and
/// whether both then find the same.
void print_refreshes(const RefreshRun& run, const SyntheticRows& synthetic);

}  // namespace polarquant::bench
