// SPDX-License-Identifier: MIT
// The advisor's calls of the C ABI.
#include <memory>
#include <string>
#include <vector>

#include "polarquant/polarquant.h"
#include "src/advice/advice.h"
#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"

struct polar_advice {
  polarquant::Advice advice;
};

namespace polarquant::capi {
namespace {

polar_advice_options default_advice_options() {
  const AdviceOptions defaults;
  auto options = sized<polar_advice_options>();
  options.seed = defaults.seed;
  options.k = defaults.wish.k;
  options.max_rows = defaults.max_rows;
  options.max_queries = defaults.max_queries;
  return options;
}

AdviceOptions read_advice_options(const polar_advice_options* given) {
  const polar_advice_options read = read_over(default_advice_options(), "options", given);
  require_threads(read.num_threads);
  require_count("options.num_specs", read.num_specs, 0);
  require_array("options.specs", read.specs, read.num_specs, 1, sizeof(char*));
  AdviceOptions options;
  options.wish = {read.k, read.wanted_recall, read.allowed_bytes};
  for (int64_t i = 0; i < read.num_specs; ++i)
    options.specs.emplace_back(require_name("options.specs", read.specs[i]));
  options.max_rows = read.max_rows;
  options.max_queries = read.max_queries;
  options.total_rows = read.total_rows;
  options.seed = read.seed;
  options.threads = read.num_threads;
  options.progress = report_to(read.progress, read.progress_user);
  return options;
}

polar_advice_row describe(const AdviceRow& row) {
  polar_advice_row out = {};
  out.needs_training = row.needs_training ? 1 : 0;
  out.spec = row.spec.c_str();
  out.problem = row.problem.c_str();
  if (!row.problem.empty()) return out;
  const QueryMean gain = row.gain.value_or(QueryMean());
  out.bytes_per_vector = row.bytes;
  out.recall = row.recall.mean;
  out.recall_margin = row.recall.margin;
  out.quarter_recall = row.quarter_recall;
  out.expected_recall = row.expected_recall;
  out.error = row.error;
  out.gain = gain.mean;
  out.gain_margin = gain.margin;
  out.codec_bytes = row.codec_bytes;
  out.pays = row.pays ? 1 : 0;
  return out;
}

}  // namespace
}  // namespace polarquant::capi

using namespace polarquant;        // NOLINT: this file is the ABI's definitions and nothing else
using namespace polarquant::capi;  // NOLINT

extern "C" void polar_advice_options_init_sized(polar_advice_options* options, size_t struct_size) {
  polarquant::capi::fill_over(default_advice_options(), options, struct_size);
}

extern "C" polar_status polar_advice_create(int32_t dim, polar_metric metric, int64_t n,
                                            const float* x, int64_t nq, const float* queries,
                                            const polar_advice_options* options,
                                            polar_advice** out) {
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    require_dim(dim);
    const Metric checked_metric = require_metric(metric);
    const AdviceOptions read = read_advice_options(options);
    require_count("n", n, 1);
    require_count("nq", nq, 0);
    require_finite("x", x, n, dim);
    require_finite("queries", queries, nq, dim);
    auto handle = std::make_unique<polar_advice>();
    handle->advice = advise({checked_metric, dim, n, x, nq, queries}, read);
    *out = handle.release();
  });
}

extern "C" void polar_advice_destroy(polar_advice* advice) { delete advice; }

extern "C" polar_status polar_advice_get_info(const polar_advice* advice, polar_advice_info* info) {
  return run_guarded([&] {
    const Advice& checked = require_object("advice", advice).advice;
    require_object("info", info);
    polar_advice_info full = {};
    full.held_out_queries = checked.held_out_queries ? 1 : 0;
    full.rows = static_cast<int64_t>(checked.rows.size());
    full.recommended = checked.choice.row;
    full.reason = checked.choice.reason.c_str();
    full.queries = checked.queries;
    full.base_rows = checked.base_rows;
    full.train_rows = checked.train_rows;
    write_over("info", full, info);
  });
}

extern "C" polar_status polar_advice_get_row(const polar_advice* advice, int64_t row,
                                             polar_advice_row* filled) {
  return run_guarded([&] {
    const Advice& checked = require_object("advice", advice).advice;
    require_object("filled", filled);
    const auto rows = static_cast<int64_t>(checked.rows.size());
    require(row >= 0 && row < rows, StatusCode::bad_argument,
            "row: {} is not allowed; 0 or more and below the advice's {} rows", row, rows);
    polar_advice_row full = describe(checked.rows[static_cast<size_t>(row)]);
    full.is_recommended = row == checked.choice.row ? 1 : 0;
    write_over("filled", full, filled);
  });
}
