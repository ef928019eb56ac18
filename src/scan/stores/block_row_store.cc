// SPDX-License-Identifier: MIT
#include "src/scan/stores/block_row_store.h"

#include <memory>
#include <span>
#include <utility>

#include "src/scan/search/block_search.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"

namespace polarquant {

void BlockRowStore::search(const Codec& codec, const SearchRequest& request,
                           const SearchResult& result) const {
  if (scan_codec_ == nullptr) {
    block_search(codec, ScanCodec(codec), std::span<const BlockRows>(), request, result);
    return;
  }
  const std::shared_ptr<const RowCopies> copies = copies_of_kept(codec, request);
  if (copies == nullptr) {
    block_search(codec, *scan_codec_, spans(), request, result);
    return;
  }
  SearchRequest inside = request;
  inside.filter = {};
  block_search(codec, *scan_codec_, copies->blocks.spans(), inside, result);
  replace_ids(request, result, [&](int64_t row) { return copies->rows[static_cast<size_t>(row)]; });
}

// Null where the request has no filter that keeps few rows, or searches were few.
std::shared_ptr<const RowCopies> BlockRowStore::copies_of_kept(const Codec& codec,
                                                               const SearchRequest& request) const {
  const auto* kept = dynamic_cast<const KeptRows*>(request.filter.rule());
  if (kept == nullptr || !copies_kept_rows(kept->count(), rows())) return nullptr;
  return kept->copies().get(request.nq, kQueriesBeforeCopy, [&] {
    auto copies = std::make_unique<RowCopies>(RowCopies{CodeBlocks(scan_codec_->layout()), {}});
    std::vector<uint8_t> code(scan_codec_->layout().row_format_bytes());
    request.filter.for_each(0, rows(), [&](int64_t row) {
      get(codec, row, code.data());
      copies->blocks.append(1, code.data());
      copies->rows.push_back(row);
    });
    return copies;
  });
}

}  // namespace polarquant
