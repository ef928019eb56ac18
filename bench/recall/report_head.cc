// SPDX-License-Identifier: MIT
#include "bench/recall/report_head.h"

namespace polarquant::bench {

using nlohmann::ordered_json;

ordered_json run_json(const RunInfo& info, const std::vector<std::string>& command_line) {
  ordered_json out;
  out["program"] = "polar-recall";
  out["format"] = 1;
  out["library_version"] = info.library_version;
  out["git_commit"] = info.git_commit;
  out["faiss_version"] = info.faiss_version;
  out["compiler"] = info.compiler;
  out["compiler_flags"] = info.compiler_flags;
  out["build_type"] = info.build_type;
  out["cpu"] = {{"model", info.cpu_model}, {"count", info.cpu_count}, {"governor", info.governor}};
  out["command_line"] = command_line;
  return out;
}

ordered_json source_json(const SourceFile& file) {
  return {{"file", file.path}, {"bytes", file.bytes}, {"xxh3", file.xxh3}};
}

ordered_json vectors_json(const BenchmarkData& data) {
  ordered_json base = source_json(data.base_file);
  base["rows"] = data.base.rows;
  base["rows_in_file"] = data.base.rows_in_source;
  base["dim"] = data.base.dim;
  ordered_json query;
  if (!data.query_file.path.empty()) {
    query = source_json(data.query_file);
    query["rows"] = data.query.rows;
    query["rows_in_file"] = data.query.rows_in_source;
  }
  return {{"base", base}, {"query", query}};
}

std::string dump_report(const ordered_json& report) {
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace polarquant::bench
