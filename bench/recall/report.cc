// SPDX-License-Identifier: MIT
#include "bench/recall/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "bench/median.h"
#include "bench/recall/report_head.h"
#include "src/core/status.h"
#include "src/io/atomic_file.h"

namespace polarquant::bench {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void fail_to_write(const std::string& path) {
  fail(StatusCode::io, "{}: cannot write: {}", path, std::generic_category().message(errno));
}

/// Pipes and terminals are written to.
bool is_replaced(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

size_t widest(const std::vector<std::string>& texts, size_t least) {
  for (const std::string& text : texts) least = std::max(least, text.size());
  return least;
}

std::string bytes_text(double bytes) {
  return bytes < 0 ? std::string("?") : fmt::format("{:.1f}", bytes);
}

std::string qps_text(bool measured, const Throughput& throughput) {
  if (!measured) return "-";
  const double qps = throughput.median_qps;
  return qps < 100 ? fmt::format("{:.1f}", qps) : fmt::format("{:.0f}", qps);
}

ordered_json throughput_json(bool measured, const Throughput& throughput) {
  if (!measured) return nullptr;
  ordered_json out = {{"queries_per_run", throughput.queries_per_run},
                      {"runs_qps", throughput.runs_qps}};
  if (throughput.p50_ms > 0) {
    out["latency_ms"] = {
        {"p50", throughput.p50_ms}, {"p95", throughput.p95_ms}, {"p99", throughput.p99_ms}};
  }
  return out;
}

ordered_json median_json(bool measured, const Throughput& throughput) {
  if (!measured) return nullptr;
  return throughput.median_qps;
}

/// Whole, for programs; the table has the rates alone.
ordered_json plan_json(const TrainedPlanInfo& info) {
  ordered_json segments = ordered_json::array();
  for (int i = 0; i < segments_of(info.dim); ++i) {
    const SegmentRate& rate = info.plan[static_cast<size_t>(i)];
    segments.push_back({{"first", i * kSegmentDims},
                        {"dim", segment_dims(info.dim, i)},
                        {"bits", rate.twice_bits / 2.0},
                        {"scale", rate.scale}});
  }
  return {{"has_basis", info.has_basis},
          {"error", info.error},
          {"untrained_error", info.untrained_error},
          {"segments", segments}};
}

ordered_json row_json(const ReportRow& row, const BenchmarkData& data,
                      const MeasureOptions& options) {
  ordered_json out = {{"index", row.index},
                      {"params", row.params},
                      {"metric", distance_name(data.distance)},
                      {"threads", options.threads}};
  if (!row.error.empty()) {
    out["error"] = row.error;
    return out;
  }
  out["bytes_per_vector"] =
      row.cost.bytes < 0 ? ordered_json(nullptr) : ordered_json(row.cost.bytes);
  out["bytes_rule"] = row.cost.rule;
  out["train_s"] = median(row.build.train_s);
  out["add_s"] = median(row.build.add_s);
  out["build"] = {{"runs_train_s", row.build.train_s}, {"runs_add_s", row.build.add_s}};
  out["recall_at_1"] = row.search.recall.at_1;
  out["recall_at_k"] = row.search.recall.at_k;
  out["qps_batch"] = median_json(options.batch, row.search.batch);
  out["qps_one"] = median_json(options.one, row.search.one);
  out["batch"] = throughput_json(options.batch, row.search.batch);
  out["one"] = throughput_json(options.one, row.search.one);
  if (row.plan) out["plan"] = plan_json(*row.plan);
  return out;
}

}  // namespace

Table::Table(std::FILE* out, Distance distance, const MeasureOptions& options,
             const std::vector<std::string>& indexes, const std::vector<std::string>& params)
    : out_(out),
      metric_(distance_name(distance)),
      options_(options),
      index_width_(widest(indexes, 5)),
      params_width_(widest(params, 6)),
      has_plans_(std::any_of(indexes.begin(), indexes.end(), [](const std::string& index) {
        return index.find("-pca") != std::string::npos;
      })) {}

void Table::print_header() const {
  fmt::print(out_,
             "{:<{}}  {:<{}}  {:>6}  {:>9}  {:>8}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {:>7}{}\n",
             "index", index_width_, "params", params_width_, "metric", "bytes/vec", "train s",
             "add s", "recall@1", fmt::format("recall@{}", options_.k), "qps batch", "qps one",
             "threads", has_plans_ ? "  bits of each 64 dimensions" : "");
  std::fflush(out_);
}

void Table::print_row(const ReportRow& row) const {
  fmt::print(out_, "{:<{}}  {:<{}}  {:>6}  ", row.index, index_width_, row.params, params_width_,
             metric_);
  if (!row.error.empty()) {
    // One line, whatever FAISS put into its text.
    std::string text = row.error;
    std::replace(text.begin(), text.end(), '\n', ' ');
    fmt::print(out_, "error: {}\n", text);
  } else {
    fmt::print(out_, "{:>9}  {:>8.2f}  {:>8.2f}  {:>8.4f}  {:>10.4f}  {:>10}  {:>10}  {:>7}{}\n",
               bytes_text(row.cost.bytes), median(row.build.train_s), median(row.build.add_s),
               row.search.recall.at_1, row.search.recall.at_k,
               qps_text(options_.batch, row.search.batch), qps_text(options_.one, row.search.one),
               options_.threads, row.plan ? "  " + print_plan(*row.plan) : "");
  }
  std::fflush(out_);
}

std::string report_json(const ReportContext& context, const BenchmarkData& data,
                        const std::vector<ReportRow>& rows) {
  const RunInfo& info = context.info;
  const MeasureOptions& options = context.options;
  ordered_json out = run_json(info, context.command_line);
  out["settings"] = {{"metric", distance_name(data.distance)},
                     {"k", options.k},
                     {"threads", options.threads},
                     {"repeat", options.repeat},
                     {"builds", options.builds},
                     {"omp_wait_policy", info.wait_policy},
                     {"train_rows", std::min(options.train_rows == kAllRows ? kDefaultTrainRows
                                                                            : options.train_rows,
                                             data.base.rows)}};
  ordered_json truth = {{"source", data.ground_truth_file ? "file" : "computed"}};
  if (data.ground_truth_file) truth.update(source_json(*data.ground_truth_file));
  out["data"] = vectors_json(data);
  out["data"]["ground_truth"] = truth;
  out["rows"] = ordered_json::array();
  for (const ReportRow& row : rows) out["rows"].push_back(row_json(row, data, options));
  return dump_report(out);
}

void require_writable(const std::string& path, const DataRequest& inputs) {
  for (const std::string& input : {inputs.base, inputs.query, inputs.ground_truth}) {
    std::error_code none;  // files that are not there are the same as no other
    require(!std::filesystem::equivalent(path, input, none), StatusCode::bad_argument,
            "{}: is what is read, as {}; it would be replaced: name another file", path, input);
  }
  if (is_replaced(path)) const AtomicFile file(path);
}

void write_report(const std::string& path, const std::string& text) {
  if (is_replaced(path)) {
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
    return;
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail_to_write(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) fail_to_write(path);
}

}  // namespace polarquant::bench
