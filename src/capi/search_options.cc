// SPDX-License-Identifier: MIT
#include "src/capi/search_options.h"

#include <algorithm>
#include <limits>

#include "src/capi/argument_checks.h"
#include "src/capi/options.h"
#include "src/capi/work_call.h"

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

uint64_t bitset_mask(const uint64_t* bits, int64_t num_bits, int64_t first, int count) {
  // Ids that FAISS's own calls give rows may be negative, and are asked for one at a time.
  if (first < 0) return 0;
  uint64_t mask = 0;
  for (int i = 0; i < count && first + i < num_bits;) {
    const int64_t id = first + i;
    const int shift = static_cast<int>(id % 64);
    mask |= bits[id / 64] >> shift << i;
    i += 64 - shift;
  }
  const int64_t left = num_bits - first;
  return left <= 0 ? 0 : left >= 64 ? mask : mask & ((uint64_t{1} << left) - 1);
}

/// How far `id` ≥ `first` is after it, at most `most`. Ids of files and of FAISS's own calls may be
/// negative, so that the difference may not fit a signed number.
int ids_between(int64_t first, int64_t id, int most) {
  const uint64_t apart = static_cast<uint64_t>(id) - static_cast<uint64_t>(first);
  return static_cast<int>(std::min(apart, static_cast<uint64_t>(most)));
}

uint64_t id_list_mask(const int64_t* ids, int64_t num_ids, int64_t first, int count) {
  uint64_t mask = 0;
  for (const int64_t* id = std::lower_bound(ids, ids + num_ids, first);
       id != ids + num_ids && ids_between(first, *id, count) < count; ++id) {
    mask |= uint64_t{1} << ids_between(first, *id, count);
  }
  return mask;
}

/// An end that takes the last id there can be in, too.
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

uint64_t range_mask(int64_t first_id, int64_t end_id, int64_t first, int count) {
  const int begin = first_id <= first ? 0 : ids_between(first, first_id, count);
  const int end = end_id == kNoEnd  ? count
                  : end_id <= first ? 0
                                    : ids_between(first, end_id, count);
  if (begin >= end) return 0;
  const uint64_t below_end = end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
  return below_end & ~((uint64_t{1} << begin) - 1);
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
      return RowFilter::from_mask([bits = filter.bitset](int64_t first, int count) {
        return bitset_mask(bits.words, bits.num_bits, first, count);
      });
    case POLAR_FILTER_IDS:
      return RowFilter::from_mask([list = filter.ids](int64_t first, int count) {
        return id_list_mask(list.ids, list.count, first, count);
      });
    case POLAR_FILTER_RANGE:
      return RowFilter::from_mask([range = filter.range](int64_t first, int count) {
        return range_mask(range.first, range.end, first, count);
      });
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
