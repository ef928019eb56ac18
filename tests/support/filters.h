// SPDX-License-Identifier: MIT
// Filters of the C ABI in one expression. They point to what they are given.
#pragma once

#include <cstdint>

#include "polarquant/polarquant.h"

namespace polarquant::test {

inline polar_filter filter_of(polar_filter_kind kind) {
  polar_filter filter;
  polar_filter_init(&filter);
  filter.kind = kind;
  return filter;
}

inline polar_filter bitset_filter(const uint64_t* words, int64_t num_bits) {
  polar_filter filter = filter_of(POLAR_FILTER_BITSET);
  filter.bitset = {words, num_bits};
  return filter;
}

inline polar_filter id_list_filter(const int64_t* ids, int64_t count) {
  polar_filter filter = filter_of(POLAR_FILTER_IDS);
  filter.ids = {ids, count};
  return filter;
}

inline polar_filter range_filter(int64_t first, int64_t end) {
  polar_filter filter = filter_of(POLAR_FILTER_RANGE);
  filter.range = {first, end};
  return filter;
}

inline polar_filter callback_filter(polar_keep_fn keep, void* user = nullptr) {
  polar_filter filter = filter_of(POLAR_FILTER_CALLBACK);
  filter.callback = {keep, user};
  return filter;
}

}  // namespace polarquant::test
