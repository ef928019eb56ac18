// SPDX-License-Identifier: MIT
#include "src/scan/search/row_search.h"

#include "src/scan/search/exhaustive_search.h"

namespace polarquant {

void row_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries, int64_t k,
                const RowFilter& filter, const SearchOptions& options, float* scores,
                int64_t* ids) {
  if (BlockLayout::supports(codec)) {
    block_search(codec, ScanCodec(codec), codes, nq, queries, k, filter, options, scores, ids);
  } else {
    exhaustive_search(codec, codes, nq, queries, k, filter, options, scores, ids);
  }
}

void row_range_search(const Codec& codec, CodeRows codes, int64_t nq, const float* queries,
                      float radius, const RowFilter& filter, const SearchOptions& options,
                      RangeFound* found) {
  if (BlockLayout::supports(codec)) {
    block_range_search(codec, ScanCodec(codec), codes, nq, queries, radius, filter, options, found);
  } else {
    exhaustive_range_search(codec, codes, nq, queries, radius, filter, options, found);
  }
}

}  // namespace polarquant
