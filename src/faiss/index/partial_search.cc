// SPDX-License-Identifier: MIT
#include "src/faiss/index/partial_search.h"

#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>

#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/index_search.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant {

PartialResult search_part(const ::faiss::Index& index, const SearchRequest& request,
                          const PartPlace& place) {
  SearchRequest inside = request;
  if (place.ids_are_positions) inside.filter = shifted(request.filter, place.first_row);
  PartialResult found;
  search_index(index, inside, &found);
  const bool is_ivf = dynamic_cast<const ::faiss::IndexIVF*>(&finding_index(index)) != nullptr;
  bool has_map = false;
  for_each_part(index, [&has_map](const ::faiss::Index& part) {
    has_map = has_map || dynamic_cast<const ::faiss::IndexIDMap*>(&part) != nullptr;
  });
  // Inverted files order equal scores by the ids that they have themselves, others by rows.
  const bool order_is_position = !is_ivf || has_map || place.ids_are_positions;
  for (std::vector<PartialRow>& rows : found.queries) {
    for (PartialRow& row : rows) {
      if (!is_ivf) row.row += place.first_row;
      if (order_is_position) row.order += place.first_row;
      if (place.ids_are_positions) row.id += place.first_row;
    }
  }
  return found;
}

}  // namespace polarquant
