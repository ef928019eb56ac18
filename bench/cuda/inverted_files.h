// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/synthetic_rows.h"

namespace polarquant::bench {

struct InvertedFileRun {
  std::string spec;
  int64_t lists;
  int64_t rows;
  int dim;
  std::vector<int64_t> nprobes;
  std::vector<int64_t> batches;
  int64_t results;     // k
  int64_t keep_every;  // a filter keeps one of so many rows
  std::string refine;  // the second part of a refinement, or empty
};

/// Prints how long searches of an inverted file take on the device, beside those of a copy without
/// lists there and of the CPU by all threads, in turns; which share of the results without lists
/// they find; and whether device and CPU agree.
void print_inverted_file(const InvertedFileRun& run, const SyntheticRows& synthetic);

}  // namespace polarquant::bench
