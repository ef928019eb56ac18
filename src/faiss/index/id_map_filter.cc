// SPDX-License-Identifier: MIT
#include "src/faiss/index/id_map_filter.h"

#include <optional>
#include <utility>

#include "src/scan/search/filter_rules.h"
#include "src/scan/search/prepared_filter.h"

namespace polarquant {

RowFilter filter_inside(const ::faiss::IndexIDMap& map, const SearchRequest& request) {
  const RowFilter& filter = request.filter;
  if (filter.keeps_all()) return {};
  RowOfId row_of;
  if (const auto* two_way = dynamic_cast<const ::faiss::IndexIDMap2*>(&map)) {
    row_of = [two_way](int64_t id) {
      const auto at = two_way->rev_map.find(id);
      return at != two_way->rev_map.end() ? int64_t{at->second} : -1;
    };
  }
  if (filter.is_prepared()) {
    // The index inside finds something of these rows in turn.
    return filter.found(request.rows_state,
                        [&] { return prepare(all_rows_of_ids(filter, map.id_map, row_of)); });
  }
  if (std::optional<RowFilter> rows = looked_up_rows(filter, map.ntotal, row_of))
    return *std::move(rows);
  // A graph asks for few rows' ids.
  return rows_of_ids(filter, map.id_map);
}

}  // namespace polarquant
