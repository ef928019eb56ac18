// SPDX-License-Identifier: MIT
// What --advise found, as a table for people and as JSON.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/run_info.h"
#include "src/advice/advice.h"

namespace polarquant::bench {

void print_advice(std::FILE* out, const BenchmarkData& data, const AdviceOptions& options,
                  const Advice& advice);

/// The whole run as JSON text; docs in bench/README.md.
std::string advice_json(const std::vector<std::string>& command_line, const RunInfo& info,
                        const BenchmarkData& data, const AdviceOptions& options,
                        const Advice& advice);

}  // namespace polarquant::bench
