// SPDX-License-Identifier: MIT
// The parts that every JSON report begins with: what ran, where, and on which files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/run_info.h"

namespace polarquant::bench {

/// "program" to "command_line".
nlohmann::ordered_json run_json(const RunInfo& info, const std::vector<std::string>& command_line);
nlohmann::ordered_json source_json(const SourceFile& file);
/// {"base": …, "query": … or null}.
nlohmann::ordered_json vectors_json(const BenchmarkData& data);
/// The report's text. Texts from outside (paths, FAISS's errors) may be no UTF-8; a report must not
/// fail by that.
std::string dump_report(const nlohmann::ordered_json& report);

}  // namespace polarquant::bench
