// SPDX-License-Identifier: MIT
#include "src/capi/search_options.h"

#include <functional>
#include <limits>
#include <utility>

#include "src/capi/argument_checks.h"
#include "src/capi/filter_input.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"

namespace polarquant::capi {
namespace {

polar_search_options default_search_options() {
  auto options = sized<polar_search_options>();
  options.exactness = kDefaultExactness;
  return options;
}

/// A function of the caller's that any thread may call during a call on an object.
std::function<bool(double)> inside_call(const TurnLock* use, std::function<bool(double)> report) {
  if (use == nullptr || !report) return report;
  return [use, report = std::move(report)](double done) {
    const InsideCall inside(use);
    return report(done);
  };
}

polar_search_options read_options(const polar_search_options* given) {
  const polar_search_options options = read_over(default_search_options(), "options", given);
  require_threads(options.num_threads);
  require(options.reserved == 0, StatusCode::bad_argument, "options.reserved: {} is not allowed; 0",
          options.reserved);
  // Written so that a NaN is refused too.
  require(options.exactness >= 0, StatusCode::bad_argument,
          "options.exactness: {} is not allowed; 0 to infinity", options.exactness);
  require_count("options.nprobe", options.nprobe, 0);
  require(options.ef_search >= 0 && options.ef_search <= std::numeric_limits<int32_t>::max(),
          StatusCode::bad_argument, "options.ef_search: {} is not allowed; 0 to 2^31-1",
          options.ef_search);
  // Written so that a NaN is refused too.
  require(options.k_factor == 0 || options.k_factor >= 1, StatusCode::bad_argument,
          "options.k_factor: {} is not allowed; 0 (the index's own) or 1 to infinity",
          options.k_factor);
  return options;
}

}  // namespace

SearchRequest read_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options* options, const SearchedRows& rows) {
  const polar_search_options read = read_options(options);
  return {.nq = nq,
          .queries = queries,
          .goal = goal,
          .filter = read_filter(read.filter, rows.use),
          .rows_state = rows.state,
          .options = {read.exactness, read.nprobe, read.ef_search, read.k_factor},
          .threads = read.num_threads,
          .progress = inside_call(rows.use, report_to(read.progress, read.progress_user))};
}

polar_bitset read_bitset(const polar_search_options* options) {
  const polar_filter* filter = read_options(options).filter;
  if (filter == nullptr || filter->kind != POLAR_FILTER_BITSET) return {nullptr, 0};
  return filter->bitset;
}

}  // namespace polarquant::capi

extern "C" void polar_search_options_init_sized(polar_search_options* options, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::default_search_options(), options, struct_size);
}
