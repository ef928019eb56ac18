// SPDX-License-Identifier: MIT
// Results as people read them (an aligned table, a row as soon as it is measured) and as programs
// do (one JSON file).
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "bench/recall/benchmark_data.h"
#include "bench/recall/bytes_per_vector.h"
#include "bench/recall/measure.h"
#include "bench/recall/run_info.h"
#include "bench/recall/trained_plan.h"

namespace polarquant::bench {

/// One index with one set of parameters.
struct ReportRow {
  std::string index;
  std::string params;
  std::string error;  ///< "" when measured; else the fields below mean nothing
  VectorCost cost;
  BuildTimes build;
  SearchResult search;
  std::optional<TrainedPlanInfo> plan;  ///< of a trained code of ours
};

class Table {
 public:
  /// Column widths come from the index strings and parameters that will be shown.
  Table(std::FILE* out, Distance distance, const MeasureOptions& options,
        const std::vector<std::string>& indexes, const std::vector<std::string>& params);
  void print_header() const;
  void print_row(const ReportRow& row) const;

 private:
  std::FILE* out_;
  std::string metric_;
  MeasureOptions options_;
  size_t index_width_;
  size_t params_width_;
  bool has_plans_;  // an index is of a trained code: a last column says its rates
};

struct ReportContext {
  std::vector<std::string> command_line;
  RunInfo info;
  MeasureOptions options;
};

/// The whole run as JSON text; docs in bench/README.md.
std::string report_json(const ReportContext& context, const BenchmarkData& data,
                        const std::vector<ReportRow>& rows);

/// Writes `text` to path + ".part" and renames it, so that path never holds half a report.
/// To a file, which appears whole or not at all, or to what a path names that is no file.
void write_report(const std::string& path, const std::string& text);
/// Throws what write_report(path, …) would if it could not write, and for a path that is one of the
/// inputs; leaves no file behind.
void require_writable(const std::string& path, const DataRequest& inputs);

}  // namespace polarquant::bench
