// SPDX-License-Identifier: MIT
#include "src/capi/search_options.h"

#include <limits>
#include <span>

#include "src/capi/argument_checks.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant::capi {
namespace {

polar_search_options default_search_options() {
  auto options = sized<polar_search_options>();
  options.exactness = kDefaultExactness;
  return options;
}

void require_filter(const polar_filter& filter) {
  const auto& [words, num_bits] = filter.bitset;
  const auto& [ids, count] = filter.ids;
  switch (filter.kind) {
    case POLAR_FILTER_NONE:
    case POLAR_FILTER_RANGE:
      return;
    case POLAR_FILTER_BITSET:
      require_count("filter.bitset.num_bits", num_bits, 0);
      require_array("filter.bitset.words", words, num_bits / 64 + (num_bits % 64 != 0 ? 1 : 0), 1,
                    sizeof(uint64_t));
      return;
    case POLAR_FILTER_IDS:
      require_count("filter.ids.count", count, 0);
      require_array("filter.ids.ids", ids, count, 1, sizeof(int64_t));
      for (int64_t i = 1; i < count; ++i) {
        require(ids[i - 1] < ids[i], StatusCode::bad_argument,
                "filter.ids.ids: {} at {} follows {}; ascending ids without repeats are allowed",
                ids[i], i, ids[i - 1]);
      }
      return;
    case POLAR_FILTER_CALLBACK:
      require(filter.callback.keep != nullptr, StatusCode::bad_argument,
              "filter.callback.keep: NULL is not allowed with POLAR_FILTER_CALLBACK");
      return;
    default:
      fail(StatusCode::bad_argument,
           "filter.kind: {} is not allowed; {} (POLAR_FILTER_NONE) to {} (POLAR_FILTER_CALLBACK)",
           filter.kind, POLAR_FILTER_NONE, POLAR_FILTER_CALLBACK);
  }
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

RowFilter read_filter(const polar_filter* given) {
  const auto filter = read_over(sized<polar_filter>(), "filter", given);
  require_filter(filter);
  switch (filter.kind) {
    case POLAR_FILTER_BITSET:
      return keep_bits(reinterpret_cast<const uint8_t*>(filter.bitset.words),
                       filter.bitset.num_bits);
    case POLAR_FILTER_IDS:
      return keep_ids(std::span(filter.ids.ids, static_cast<size_t>(filter.ids.count)));
    case POLAR_FILTER_RANGE:
      return keep_range(filter.range.first, filter.range.end);
    case POLAR_FILTER_CALLBACK:
      return {[asked = filter.callback](int64_t id) { return asked.keep(asked.user, id) != 0; }};
    default:
      return {};
  }
}

SearchRequest read_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options* options) {
  const polar_search_options read = read_options(options);
  return {.nq = nq,
          .queries = queries,
          .goal = goal,
          .filter = read_filter(read.filter),
          .options = {read.exactness, read.nprobe, read.ef_search, read.k_factor},
          .threads = read.num_threads,
          .progress = report_to(read.progress, read.progress_user)};
}

}  // namespace polarquant::capi

extern "C" void polar_search_options_init(polar_search_options* options) {
  if (options != nullptr) *options = polarquant::capi::default_search_options();
}

extern "C" void polar_filter_init(polar_filter* filter) {
  if (filter != nullptr) *filter = polarquant::capi::sized<polar_filter>();
}
