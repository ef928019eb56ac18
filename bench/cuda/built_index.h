// SPDX-License-Identifier: MIT
// Indexes of synthetic rows.
#pragma once

#include <cstdint>
#include <string>

#include "bench/bench_check.h"
#include "bench/synthetic_rows.h"

namespace polarquant::bench {

struct IndexSize {
  int64_t rows;
  int dim;
  int64_t lists;  // 0: it has none
};

/// Trained on some of the rows, and filled with all.
IndexHandle build_index(const std::string& description, const IndexSize& size,
                        const SyntheticRows& synthetic);

/// Adds rows first … first+count−1.
void add_rows(polar_index* index, int dim, int64_t first, int64_t count,
              const SyntheticRows& synthetic);

}  // namespace polarquant::bench
