// SPDX-License-Identifier: MIT
#include "src/scan/stores/block_row_store.h"

#include <span>

#include "src/scan/search/block_search.h"
#include "src/scan/search/plan.h"
#include "src/scan/stores/kept_copies.h"

namespace polarquant {

void BlockRowStore::search(const Codec& codec, const SearchRequest& request,
                           const SearchResult& result) const {
  if (scan_codec_ == nullptr) {
    block_search(codec, ScanCodec(codec), std::span<const BlockRows>(), request, result);
    return;
  }
  if (search_kept_copies(*this, codec, request, most_copies(rows()), result)) return;
  block_search(codec, *scan_codec_, spans(), request, result);
}

}  // namespace polarquant
