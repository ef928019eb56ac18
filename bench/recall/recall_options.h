// SPDX-License-Identifier: MIT
// polar-recall's command line.
#pragma once

#include <string>
#include <vector>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/index_params.h"
#include "bench/recall/measure.h"
#include "src/advice/advice.h"

namespace polarquant::bench {

struct RecallOptions {
  DataRequest data;
  std::vector<std::string> indexes;
  /// One per --param; at least one, which may be empty.
  std::vector<std::vector<NamedValue>> param_sets;
  MeasureOptions measure;
  /// Codes are measured on a sample, and one is recommended; `indexes` are then names of codes, or
  /// none for the advisor's own.
  bool advise = false;
  AdviceOptions advice;
  std::string json_path;
  std::string html_path;
};

/// What the command line asked for; `exit_status` is set when the program should end at once
/// (--help printed, or a mistake explained).
struct ParsedCommandLine {
  RecallOptions options;
  int exit_status = -1;
};

ParsedCommandLine parse_command_line(int argc, const char* const* argv);

/// "A;B;C" into its parts; empty parts are left out.
std::vector<std::string> split_indexes(const std::string& text);

}  // namespace polarquant::bench
