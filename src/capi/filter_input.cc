// SPDX-License-Identifier: MIT
#include "src/capi/filter_input.h"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/capi/argument_checks.h"
#include "src/capi/exception_wall.h"
#include "src/capi/handles.h"
#include "src/capi/options.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/prepared_filter.h"

namespace polarquant::capi {
namespace {

/// A copy that has all members. The first version had none after the callback.
polar_filter whole_filter(const polar_filter* given) {
  return read_over(sized<polar_filter>(), "filter", given, offsetof(polar_filter, prepared));
}

int64_t words_of(int64_t num_bits) { return num_bits / 64 + (num_bits % 64 != 0 ? 1 : 0); }

void require_filter(const polar_filter& filter) {
  const auto& [words, num_bits] = filter.bitset;
  const auto& [ids, count] = filter.ids;
  switch (filter.kind) {
    case POLAR_FILTER_NONE:
    case POLAR_FILTER_RANGE:
      return;
    case POLAR_FILTER_BITSET:
      require_count("filter.bitset.num_bits", num_bits, 0);
      require_array("filter.bitset.words", words, words_of(num_bits), 1, sizeof(uint64_t));
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
    case POLAR_FILTER_PREPARED:
      require(filter.prepared != nullptr, StatusCode::bad_argument,
              "filter.prepared: NULL is not allowed with POLAR_FILTER_PREPARED");
      return;
    default:
      fail(StatusCode::bad_argument,
           "filter.kind: {} is not allowed; {} (POLAR_FILTER_NONE) to {} (POLAR_FILTER_PREPARED)",
           filter.kind, POLAR_FILTER_NONE, POLAR_FILTER_PREPARED);
  }
}

/// One that borrows nothing.
RowFilter copy_of(const polar_filter& given) {
  const polar_filter filter = whole_filter(&given);
  require_filter(filter);
  require(filter.kind != POLAR_FILTER_CALLBACK && filter.kind != POLAR_FILTER_PREPARED,
          StatusCode::bad_argument,
          "filter.kind: {} is not allowed; POLAR_FILTER_NONE, POLAR_FILTER_BITSET, "
          "POLAR_FILTER_IDS or POLAR_FILTER_RANGE",
          filter.kind);
  const auto& [words, num_bits] = filter.bitset;
  const auto& [ids, count] = filter.ids;
  if (filter.kind == POLAR_FILTER_IDS) return keep_ids(std::vector<int64_t>(ids, ids + count));
  if (filter.kind != POLAR_FILTER_BITSET) return read_filter(&given);
  std::vector<uint64_t> copy(words, words + words_of(num_bits));
  // Bits beyond the last one may be anything.
  if (num_bits % 64 != 0) copy.back() &= RowFilter::first_bits(static_cast<int>(num_bits % 64));
  return RowFilter(std::make_shared<KeptRows>(std::move(copy), num_bits));
}

}  // namespace

RowFilter read_filter(const polar_filter* given, const TurnLock* use) {
  const polar_filter filter = whole_filter(given);
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
      return RowFilter([asked = filter.callback, use](int64_t id) {
        const InsideCall inside(use);
        return asked.keep(asked.user, id) != 0;
      });
    case POLAR_FILTER_PREPARED:
      return filter.prepared->filter;
    default:
      return {};
  }
}

}  // namespace polarquant::capi

extern "C" void polar_filter_init_sized(polar_filter* filter, size_t struct_size) {
  polarquant::capi::fill_over(polarquant::capi::sized<polar_filter>(), filter, struct_size);
}

extern "C" polar_status polar_prepared_filter_create(const polar_filter* filter,
                                                     polar_prepared_filter** out) {
  using namespace polarquant::capi;  // NOLINT: a definition of the ABI
  if (out != nullptr) *out = nullptr;
  return run_guarded([&] {
    require_object("out", out);
    auto handle = std::make_unique<polar_prepared_filter>();
    handle->filter = polarquant::prepare(copy_of(require_object("filter", filter)));
    *out = handle.release();
  });
}

extern "C" void polar_prepared_filter_destroy(polar_prepared_filter* prepared) { delete prepared; }
