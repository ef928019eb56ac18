// SPDX-License-Identifier: MIT
#include "bench/recall/advice_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/recall/report_head.h"

namespace polarquant::bench {
namespace {

using nlohmann::ordered_json;

std::string gain_text(const AdviceRow& row) {
  if (!row.gain) return "-";
  return fmt::format("{:+.4f} ± {:.4f}{}", row.gain->mean, row.gain->margin, row.pays ? "" : " no");
}

ordered_json mean_json(const QueryMean& mean) {
  return {{"mean", mean.mean}, {"margin", mean.margin}};
}

ordered_json row_json(const AdviceRow& row) {
  ordered_json out = {{"spec", row.spec}};
  if (!row.problem.empty()) {
    out["error"] = row.problem;
    return out;
  }
  out["bytes_per_vector"] = row.bytes;
  out["recall_at_k"] = mean_json(row.recall);
  out["recall_at_k_on_quarter"] = row.quarter_recall;
  out["expected_recall_at_k"] = row.expected_recall;
  out["coding_error"] = row.error;
  out["needs_training"] = row.needs_training;
  out["training_gain"] = row.gain ? mean_json(*row.gain) : ordered_json(nullptr);
  out["pays"] = row.pays;
  out["codec_bytes"] = row.codec_bytes;
  return out;
}

/// 0: not asked for.
ordered_json wish_json(double wish) {
  return wish > 0 ? ordered_json(wish) : ordered_json(nullptr);
}

}  // namespace

void print_advice(std::FILE* out, const BenchmarkData& data, const AdviceOptions& options,
                  const Advice& advice) {
  fmt::print(out, "{} x {} vectors, metric {}\n", data.base.rows, data.base.dim,
             distance_name(data.distance));
  fmt::print(out, "drawn by seed {}: {} {}, {} rows searched, {} others trained on\n", options.seed,
             advice.queries, advice.held_out_queries ? "rows as queries" : "queries",
             advice.base_rows, advice.train_rows);
  fmt::print(out,
             "expected: over {} rows, as recall fell from a quarter of those searched to all\n",
             advice.total_rows);
  if (advice.held_out_queries) {
    fmt::print(out, "queries of another kind than the rows can find less: give them by --query\n");
  }
  size_t width = 4;
  for (const AdviceRow& row : advice.rows) width = std::max(width, row.spec.size());
  fmt::print(out, "  {:<{}}  {:>9}  {:>9}  {:>17}  {:>9}  {:>12}  {}\n", "code", width, "bytes/vec",
             "of floats", fmt::format("recall@{}", options.wish.k), "expected", "coding error",
             "training gains");
  for (size_t i = 0; i < advice.rows.size(); ++i) {
    const AdviceRow& row = advice.rows[i];
    const char* mark = static_cast<int>(i) == advice.choice.row ? "> " : "  ";
    if (!row.problem.empty()) {
      fmt::print(out, "{}{:<{}}  {}\n", mark, row.spec, width, row.problem);
      continue;
    }
    const double share = 100 * row.bytes / (4.0 * static_cast<double>(data.base.dim));
    fmt::print(out, "{}{:<{}}  {:>9.1f}  {:>7.1f} %  {:>8.4f} ± {:.4f}  {:>9.4f}  {:>12.3g}  {}\n",
               mark, row.spec, width, row.bytes, share, row.recall.mean, row.recall.margin,
               row.expected_recall, row.error, gain_text(row));
  }
  fmt::print(out, "\n{}\n", advice.choice.reason);
}

std::string advice_json(const std::vector<std::string>& command_line, const RunInfo& info,
                        const BenchmarkData& data, const AdviceOptions& options,
                        const Advice& advice) {
  ordered_json out = run_json(info, command_line);
  out["settings"] = {{"metric", distance_name(data.distance)},
                     {"k", options.wish.k},
                     {"threads", options.threads},
                     {"seed", options.seed},
                     {"wanted_recall", wish_json(options.wish.recall)},
                     {"allowed_bytes", wish_json(options.wish.bytes)}};
  out["data"] = vectors_json(data);
  out["sample"] = {{"queries", advice.queries},
                   {"held_out_queries", advice.held_out_queries},
                   {"rows_searched", advice.base_rows},
                   {"rows_trained_on", advice.train_rows},
                   {"total_rows", advice.total_rows}};
  ordered_json chosen;
  if (advice.choice.row >= 0) chosen = advice.rows[static_cast<size_t>(advice.choice.row)].spec;
  out["recommended"] = chosen;
  out["reason"] = advice.choice.reason;
  out["rows"] = ordered_json::array();
  for (const AdviceRow& row : advice.rows) out["rows"].push_back(row_json(row));
  return dump_report(out);
}

}  // namespace polarquant::bench
