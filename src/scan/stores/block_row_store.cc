// SPDX-License-Identifier: MIT
#include "src/scan/stores/block_row_store.h"

#include <span>

#include "src/scan/search/block_search.h"

namespace polarquant {

void BlockRowStore::search(const Codec& codec, int64_t nq, const float* queries, int64_t k,
                           const RowFilter& filter, const SearchOptions& options, float* scores,
                           int64_t* ids) const {
  if (scan_codec_ == nullptr) {
    block_search(codec, ScanCodec(codec), std::span<const BlockRows>(), nq, queries, k, filter,
                 options, scores, ids);
    return;
  }
  block_search(codec, *scan_codec_, spans(), nq, queries, k, filter, options, scores, ids);
}

void BlockRowStore::range_search(const Codec& codec, int64_t nq, const float* queries, float radius,
                                 const RowFilter& filter, const SearchOptions& options,
                                 RangeFound* found) const {
  if (scan_codec_ == nullptr) {
    block_range_search(codec, ScanCodec(codec), std::span<const BlockRows>(), nq, queries, radius,
                       filter, options, found);
    return;
  }
  block_range_search(codec, *scan_codec_, spans(), nq, queries, radius, filter, options, found);
}

}  // namespace polarquant
