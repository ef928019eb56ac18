// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "bench/synthetic_rows.h"

namespace polarquant::bench {

/// Prints how long scores of one query, and sums by one vector of weights, take over the codes of
/// `heads` heads of `rows` rows each, all in the device's memory, and cuBLAS over the decoded rows
/// as float16.
void print_attention(const std::string& spec, int64_t heads, int64_t rows, int dim,
                     const SyntheticRows& synthetic);

}  // namespace polarquant::bench
