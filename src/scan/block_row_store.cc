// SPDX-License-Identifier: MIT
#include "src/scan/block_row_store.h"

#include <span>
#include <vector>

#include "src/scan/block_search.h"

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

// Valid until the thread's next call.
CodeRows BlockRowStore::row_code(int64_t row) const {
  thread_local std::vector<uint8_t> code;
  code.resize(row_format_bytes());
  get_row(row, code.data());
  return {code.data(), 1};
}

void BlockRowStore::decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
                           float* x) const {
  for (int64_t row = 0; row < count; ++row) {
    codec.decode(row_code(first + row), 0, 1, kind, x + row * codec.dim());
  }
}

RowTerms BlockRowStore::decode_for_score(const Codec& codec, int64_t row, float* y) const {
  return codec.decode_for_score(row_code(row), 0, y);
}

float BlockRowStore::score_codes(const Codec& codec, int64_t row_a, int64_t row_b) const {
  std::vector<uint8_t> a(row_format_bytes());
  get_row(row_a, a.data());
  return codec.score_codes({a.data(), 1}, 0, row_code(row_b), 0);
}

}  // namespace polarquant
