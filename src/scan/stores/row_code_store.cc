// SPDX-License-Identifier: MIT
#include "src/scan/stores/row_code_store.h"

#include <algorithm>

#include "src/scan/search/row_search.h"

namespace polarquant {

void RowCodeStore::search(const Codec& codec, const SearchRequest& request,
                          const SearchResult& result) const {
  row_search(codec, row_codes(), request, result);
}

void RowCodeStore::get(const Codec& codec, int64_t row, uint8_t* code) const {
  const size_t bytes = codec.layout().group_bytes;
  std::copy_n(row_codes().data + static_cast<size_t>(row) * bytes, bytes, code);
}

void RowCodeStore::decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
                          float* x) const {
  codec.decode(row_codes(), first, count, kind, x);
}

RowTerms RowCodeStore::decode_for_score(const Codec& codec, int64_t row, float* y) const {
  return codec.decode_for_score(row_codes(), row, y);
}

}  // namespace polarquant
