// SPDX-License-Identifier: MIT
#include "src/scan/stores/kept_copies.h"

#include <memory>
#include <vector>

#include "src/scan/layout/block_layout.h"
#include "src/scan/search/block_search.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/plan.h"

namespace polarquant {

bool search_kept_copies(const RowStore& store, const Codec& codec, const SearchRequest& request,
                        int64_t most, const SearchResult& result) {
  const auto* kept = dynamic_cast<const KeptRows*>(request.filter.rule());
  if (kept == nullptr || kept->count() > most || store.holds_floats() ||
      !BlockLayout::supports(codec))
    return false;
  const auto copies = kept->copies().get(request.nq, kQueriesBeforeCopy, [&] {
    auto made = std::make_unique<RowCopies>(codec);
    std::vector<uint8_t> code(made->scan.layout().row_format_bytes());
    made->rows.reserve(static_cast<size_t>(kept->count()));
    request.filter.for_each(0, store.rows(), [&](int64_t row) {
      store.get(codec, row, code.data());
      made->blocks.append(1, code.data());
      made->rows.push_back(row);
    });
    return made;
  });
  if (copies == nullptr) return false;
  SearchRequest inside = request;
  inside.filter = {};
  block_search(codec, copies->scan, copies->blocks.spans(), inside, result);
  replace_ids(request, result, [&](int64_t row) { return copies->rows[static_cast<size_t>(row)]; });
  return true;
}

}  // namespace polarquant
