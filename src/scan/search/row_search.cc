// SPDX-License-Identifier: MIT
#include "src/scan/search/row_search.h"

#include "src/scan/search/block_search.h"
#include "src/scan/search/exhaustive_search.h"

namespace polarquant {

void row_search(const Codec& codec, CodeRows codes, const SearchRequest& request,
                const SearchResult& result) {
  if (BlockLayout::supports(codec)) {
    block_search(codec, ScanCodec(codec), codes, request, result);
  } else {
    exhaustive_search(codec, codes, request, result);
  }
}

}  // namespace polarquant
