// SPDX-License-Identifier: MIT
#include "src/scan/search/explain.h"

#include <algorithm>
#include <cmath>

#include "src/core/format.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/tile_search.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// How many rows for each candidate that the sketches leave, and for each row scored by int8
/// values, of real embeddings with many more rows than k. A shared scan, whose thresholds are those
/// of the tile before, scores every candidate of its sketches. docs/dev/tuning.md has the figures.
constexpr int64_t kRowsPerCandidate = 50;
constexpr int64_t kRowsPerScore = 200;
constexpr int64_t kRowsPerSharedScore = 25;

std::string text_of_bytes(double bytes) {
  if (bytes < 1e4) return format_text("{:.0f} bytes", bytes);
  if (bytes < 1e6) return format_text("{:.1f} kB", bytes / 1e3);
  return bytes < 1e9 ? format_text("{:.1f} MB", bytes / 1e6)
                     : format_text("{:.2f} GB", bytes / 1e9);
}

const char* text_of(ScanKind kind) {
  switch (kind) {
    case ScanKind::staged:
      return "staged: a look at the sketch of every row, and closer ones at the few that bounds "
             "leave";
    case ScanKind::shared:
      return "shared: rows are left out by bounds, and laid out and decoded once for all queries "
             "that go together";
    case ScanKind::dense:
      return "dense: products of every row with every query";
    case ScanKind::exhaustive:
      break;
  }
  return "exhaustive: every row is scored for every query, but those that its own bytes leave out";
}

/// The rows that one query is expected to read at each stage.
struct Expected {
  int64_t candidates;
  int64_t scored;
  int64_t shared_scored;
  int64_t rescored;

  Expected(int64_t rows, int64_t k)
      : candidates(std::min(rows, std::max(rows / kRowsPerCandidate, least(rows, k)))),
        scored(std::min(rows, std::max(rows / kRowsPerScore, least(rows, k)))),
        shared_scored(std::min(rows, std::max(rows / kRowsPerSharedScore, least(rows, k)))),
        rescored(std::min(rows, ScanCodec::rescored_rows(k))) {}

  static int64_t least(int64_t rows, int64_t k) { return promising_rows(std::min(rows, k)); }
};

double bytes_of_row(const Codec& codec, const ScanCodec* scan) {
  if (scan != nullptr) return static_cast<double>(scan->layout().row_bytes());
  return static_cast<double>(codec.layout().group_bytes) / codec.layout().group_rows;
}

double sketch_bytes(const ScanCodec& scan) {
  return static_cast<double>(scan.layout().row_bytes() - scan.layout().payload_bytes());
}

/// The bytes that stage 2 reads after the sketch: other sign words, or split stages' first one.
double second_stage_bytes(const ScanCodec& scan) {
  return static_cast<double>(scan.has_split_stages() ? scan.stages()[0].payload_bytes
                                                     : scan.layout().payload_sign_bytes());
}

/// The bytes that one query reads of its candidates.
double candidate_bytes(const ScanCodec& scan, const Expected& expected) {
  const double second = second_stage_bytes(scan);
  const double payload = static_cast<double>(scan.layout().payload_bytes());
  return static_cast<double>(expected.candidates) * second +
         static_cast<double>(expected.scored) * (payload - second) +
         static_cast<double>(expected.rescored) * static_cast<double>(scan.layout().row_bytes());
}

/// Of an exhaustive or a dense scan.
std::string every_row_lines(const ScanCodec& scan, const ScanPlan& plan, double row_bytes) {
  const bool by_centroids =
      plan.kind == ScanKind::exhaustive && plan.bounded && scan.has_centroids();
  const double payload = static_cast<double>(scan.layout().payload_bytes());
  std::string text;
  int stage = 1;
  const char* left = "every row";
  if (by_centroids) {
    text += format_text("stage {}: the bound by the centroid, {:.0f} bytes of every row\n", stage++,
                        row_bytes - payload);
    left = "those that it leaves";
  }
  if (plan.by_windows) {
    text += format_text("stage {}: the bound by window tables, {:.0f} bytes of {}\n", stage++,
                        by_centroids ? payload : row_bytes, left);
    left = "those that it leaves";
  }
  return text + format_text("stage {}: scores by int8 values, from all {:.0f} bytes of {}\n", stage,
                            row_bytes, left);
}

std::string stage_lines(const Codec& codec, const ScanCodec* scan, const ScanPlan& plan,
                        const Expected& expected) {
  const ScanKind kind = plan.kind;
  if (scan == nullptr) {
    return format_text("stages: {}; the score in floats of {} rows\n",
                       plan.rounded ? "products of rows and queries rounded to bytes"
                                    : "rows are decoded to floats",
                       plan.rounded ? "those that may be among the best" : "all");
  }
  const std::string last = format_text(
      "last stage: the score in floats of the {} best by int8 values, from their codes\n",
      expected.rescored);
  if (kind == ScanKind::dense || kind == ScanKind::exhaustive || !plan.bounded)
    return every_row_lines(*scan, plan, bytes_of_row(codec, scan)) + last;
  std::string text = format_text("stage 1: the bound by the sketch, {:.0f} bytes of every row\n",
                                 sketch_bytes(*scan));
  if (kind == ScanKind::shared) {
    return text +
           format_text(
               "stage 2: the score by int8 values of about {} rows a query; every row is "
               "decoded once for all, from its other {} bytes\n",
               expected.shared_scored, scan->layout().payload_bytes()) +
           last;
  }
  int stage = 2;
  const double second = second_stage_bytes(*scan);
  if (second > 0) {
    text += format_text("stage {}: the bound by {}, {:.0f} bytes of about {} rows a query\n",
                        stage++, scan->has_split_stages() ? "the first stage" : "all signs", second,
                        expected.candidates);
  }
  text += format_text(
      "stage {}: the score by int8 values{}, {:.0f} bytes of about {} rows a query\n", stage,
      scan->stages().size() == 2 && !scan->has_split_stages() ? ", of the first stage, then of both"
                                                              : "",
      static_cast<double>(scan->layout().payload_bytes()) - second, expected.scored);
  return text + last;
}

std::string bytes_line(double bytes) {
  return format_text("reads: about {}\n", text_of_bytes(bytes));
}

}  // namespace

std::string explain_scan(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                         const ScanRequest& request) {
  const ScanPlan plan = plan_scan(scan, machine, request);
  const Expected expected(request.rows, request.k);
  const auto nq = static_cast<double>(request.nq);
  const double all_bytes = bytes_of_row(codec, scan) * static_cast<double>(request.rows);
  const int64_t groups = div_up(request.nq, plan.group_queries);
  double bytes = all_bytes * static_cast<double>(groups * plan.slices);
  if (plan.kind == ScanKind::staged) {
    // A block's signs are read once for queries that are searched together.
    const int64_t together = std::min<int64_t>(plan.group_queries, TileSearch::kMaxQueriesTogether);
    bytes = sketch_bytes(*scan) * static_cast<double>(request.rows) *
                static_cast<double>(div_up(request.nq, std::max<int64_t>(together, 1))) +
            nq * candidate_bytes(*scan, expected);
  } else if (plan.kind == ScanKind::exhaustive && scan != nullptr) {
    bytes = all_bytes * nq;
  }
  return format_text("scan: {}\n", text_of(plan.kind)) + format_text("rows: {}\n", request.rows) +
         format_text("queries: {}, {} at a time in {} {}, by {} {}\n", request.nq,
                     std::min(request.nq, plan.group_queries), plan.slices,
                     plan.slices == 1 ? "part" : "parts", request.threads,
                     request.threads == 1 ? "thread" : "threads") +
         stage_lines(codec, scan, plan, expected) + bytes_line(bytes);
}

std::string explain_lists(const Codec& codec, const ScanCodec* scan, const ScanMachine& machine,
                          const ListRequest& request, int64_t k, int64_t rows) {
  ListRequest group = request;
  group.nq = std::min(request.nq, kListGroupQueries);
  const ListPlan plan = plan_lists(scan, machine, group);
  const double lists = static_cast<double>(std::max<int64_t>(request.lists, 1));
  const double share = static_cast<double>(request.nprobe) / lists;
  const auto query_rows = static_cast<int64_t>(std::ceil(static_cast<double>(rows) * share));
  const int64_t together =
      plan.by_lists ? std::llround(static_cast<double>(group.nq) * share) : int64_t{1};
  const ScanKind kind = plan.kind(std::max<int64_t>(together, 1));
  const Expected expected(query_rows, k);
  const double row_bytes = bytes_of_row(codec, scan);
  double bytes = row_bytes * static_cast<double>(query_rows) * static_cast<double>(request.nq);
  if (plan.by_lists && kind != ScanKind::staged) {
    bytes = row_bytes * static_cast<double>(rows) *
            static_cast<double>(div_up(request.nq, kListGroupQueries));
  } else if (kind == ScanKind::staged) {
    bytes =
        static_cast<double>(request.nq) *
        (sketch_bytes(*scan) * static_cast<double>(query_rows) + candidate_bytes(*scan, expected));
  }
  return format_text("scan: {}\n", text_of(kind)) +
         format_text("rows: about {} of {} a query, in {} of {} lists\n", query_rows, rows,
                     request.nprobe, request.lists) +
         format_text("queries: {}; {}, by {} {}\n", request.nq,
                     plan.by_lists
                         ? "each list is read once for all queries of a group that probe it"
                         : "each goes through its own lists",
                     request.threads, request.threads == 1 ? "thread" : "threads") +
         stage_lines(codec, scan, {.kind = kind, .bounded = plan.bounded}, expected) +
         bytes_line(bytes);
}

}  // namespace polarquant
