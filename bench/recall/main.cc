// SPDX-License-Identifier: MIT
// polar-recall: recall, bytes and speed of index strings on someone's vectors. Every index, ours or
// FAISS's, is made by one factory and measured by the same code; see bench/README.md.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/recall/advice_report.h"
#include "bench/recall/benchmark_data.h"
#include "bench/recall/progress.h"
#include "bench/recall/recall_options.h"
#include "bench/recall/report.h"
#include "bench/recall/report_page.h"
#include "bench/recall/run_info.h"
#include "include/polarquant/faiss.h"
#include "src/advice/advice_candidates.h"
#include "src/core/status.h"

namespace polarquant::bench {
namespace {

constexpr int kIndexFailed = 1;  // or no code is what was asked for
constexpr int kBadInput = 2;

/// Tried on empty indexes, so that a mistyped name ends the run before hours of building.
void require_params_known(const RecallOptions& options, const BenchmarkData& data) {
  std::set<std::string> unknown;
  for (const auto& params : options.param_sets) {
    for (const NamedValue& param : params) unknown.insert(param.name);
  }
  if (unknown.empty()) return;
  std::set<std::string> known;
  for (const std::string& description : options.indexes) {
    std::unique_ptr<::faiss::Index> index;
    try {
      index =
          index_factory(static_cast<int>(data.base.dim), description, faiss_metric(data.distance));
    } catch (const std::exception&) {
      continue;  // gets its error row when its turn comes
    }
    for (const auto& params : options.param_sets) {
      for (const NamedValue& param : params) {
        if (apply_param(*index, param)) unknown.erase(param.name);
      }
    }
    for (const IndexParameter& parameter : index_parameters(*index)) known.insert(parameter.name);
  }
  require(unknown.empty(), StatusCode::bad_argument,
          "--param: none of the indexes knows '{}' (allowed: {})",
          unknown.empty() ? std::string() : *unknown.begin(),
          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

/// Sets what this index knows and returns it, for the row's params column.
std::vector<NamedValue> apply_known(::faiss::Index& index, const std::vector<NamedValue>& params) {
  std::vector<NamedValue> applied;
  for (const NamedValue& param : params) {
    if (apply_param(index, param)) applied.push_back(param);
  }
  return applied;
}

std::string label_of(const RecallOptions& options, size_t index) {
  return fmt::format("{}/{} {}", index + 1, options.indexes.size(), options.indexes[index]);
}

/// Builds of all indexes in turn, so that what else the machine does meets them alike; all but the
/// last of each, which is the one that is searched.
std::vector<BuildTimes> time_builds(const RecallOptions& options, const BenchmarkData& data) {
  std::vector<BuildTimes> times(options.indexes.size());
  for (int build = 1; build < options.measure.builds; ++build) {
    for (size_t i = 0; i < times.size(); ++i) {
      try {
        times[i].add(build_index(options.indexes[i], data, options.measure, label_of(options, i)));
      } catch (const std::exception&) {
        continue;  // gets its error row when its turn comes
      }
    }
  }
  return times;
}

/// All rows of one index: one for each set of parameters that differs on it. `earlier`: its builds
/// until now.
std::vector<ReportRow> measure_index(size_t index, const BuildTimes& earlier,
                                     const RecallOptions& options, const BenchmarkData& data,
                                     const Table& table) {
  const std::string& description = options.indexes[index];
  const std::string label = label_of(options, index);
  std::vector<ReportRow> rows;
  ReportRow row;
  row.index = description;
  row.params = '-';
  row.build = earlier;
  const auto finish = [&] {
    table.print_row(row);
    rows.push_back(row);
  };
  try {
    const BuiltIndex built = build_index(description, data, options.measure, label);
    row.cost = bytes_per_vector(*built.index);
    row.build.add(built);
    row.plan = trained_plan(*built.index);
    std::set<std::string> seen;
    for (const auto& params : options.param_sets) {
      row.params = print_params(apply_known(*built.index, params));
      // A parameter for other indexes leaves this one as it was: no second row of the same.
      if (!seen.insert(row.params).second) continue;
      row.search = measure_search(*built.index, data, options.measure, label);
      finish();
    }
  } catch (const std::exception& error) {
    row.error = error.what();
    finish();
  }
  return rows;
}

/// To the files that were asked for. `json` makes the text.
template <typename MakeJson>
void write_results(const RecallOptions& options, MakeJson json) {
  if (options.json_path.empty() && options.html_path.empty()) return;
  const std::string text = json();
  if (!options.json_path.empty()) write_report(options.json_path, text);
  if (!options.html_path.empty()) write_report(options.html_path, report_page(text));
}

int run_advice(int argc, const char* const* argv, const RecallOptions& options) {
  candidate_specs(options.indexes);  // a wrong name fails before anything is read
  const BenchmarkData data = load_benchmark_data(options.data, shared_progress);
  AdviceOptions advice_options = options.advice;
  advice_options.wish.k = options.measure.k;
  advice_options.threads = options.measure.threads;
  advice_options.specs = options.indexes;
  Advice advice;
  {
    constexpr int64_t kSteps = 1000;
    Progress progress("measuring codes");
    advice_options.progress = [&](double done) {
      progress.update(static_cast<int64_t>(done * kSteps), kSteps);
      return true;
    };
    advice = advise({codec_metric(data.distance), static_cast<int>(data.base.dim), data.base.rows,
                     data.base.values.data(), data.query.rows, data.query.values.data()},
                    advice_options);
  }
  print_advice(stdout, data, advice_options, advice);
  write_results(options, [&] {
    return advice_json(std::vector<std::string>(argv, argv + argc), collect_run_info(), data,
                       advice_options, advice);
  });
  return advice.choice.row >= 0 ? 0 : kIndexFailed;
}

int run(int argc, const char* const* argv) {
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  if (parsed.exit_status >= 0) return parsed.exit_status;
  const RecallOptions& options = parsed.options;
  limit_threads(options.measure.threads);
  // An unwritable path should fail now, not after the measuring.
  for (const std::string& path : {options.json_path, options.html_path}) {
    if (!path.empty()) require_writable(path, options.data);
  }
  if (options.advise) return run_advice(argc, argv, options);

  const BenchmarkData data = load_benchmark_data(options.data, shared_progress);
  if (!data.note.empty()) {
    fmt::print(stderr, "note: {}; exact neighbours were computed\n", data.note);
  }
  require_params_known(options, data);

  std::vector<std::string> param_texts;
  for (const auto& params : options.param_sets) param_texts.push_back(print_params(params));
  const Table table(stdout, data.distance, options.measure, options.indexes, param_texts);
  fmt::print("{} x {} vectors, {} queries, exact neighbours {}\n", data.base.rows, data.base.dim,
             data.query.rows, data.ground_truth_file ? "from file" : "computed");
  table.print_header();
  std::vector<ReportRow> rows;
  const std::vector<BuildTimes> earlier = time_builds(options, data);
  for (size_t i = 0; i < options.indexes.size(); ++i) {
    for (ReportRow& row : measure_index(i, earlier[i], options, data, table)) {
      rows.push_back(std::move(row));
    }
  }
  write_results(options, [&] {
    const ReportContext context{std::vector<std::string>(argv, argv + argc), collect_run_info(),
                                options.measure};
    return report_json(context, data, rows);
  });
  int status = 0;
  for (const ReportRow& row : rows) {
    if (row.error.empty()) continue;
    fmt::print(stderr, "polar-recall: index '{}' failed\n", row.index);
    status = kIndexFailed;
  }
  return status;
}

}  // namespace
}  // namespace polarquant::bench

int main(int argc, char** argv) {
  try {
    return polarquant::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "polar-recall: {}\n", error.what());
    return polarquant::bench::kBadInput;
  }
}
