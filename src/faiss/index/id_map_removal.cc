// SPDX-License-Identifier: MIT
#include "src/faiss/index/id_map_removal.h"

#include <faiss/IndexPreTransform.h>

#include <algorithm>
#include <optional>

#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/position_removal.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant {
namespace {

/// The row of an id map that a selector names where it lists one id; none where it lists others, or
/// where more rows than one have the id.
std::optional<idx_t> single_row(const ::faiss::IndexIDMap& map, const ::faiss::IDSelector& sel) {
  const auto* listed = dynamic_cast<const ::faiss::IDSelectorArray*>(&sel);
  if (listed == nullptr || listed->n != 1) return std::nullopt;
  const auto begin = map.id_map.begin();
  const auto found = std::find(begin, map.id_map.end(), listed->ids[0]);
  if (found == map.id_map.end() ||
      std::find(found + 1, map.id_map.end(), *found) != map.id_map.end())
    return std::nullopt;
  return found - begin;
}

/// Takes one row out of an id map over a graph, whose links near it change alone; false, and
/// nothing has changed, where this is not possible.
bool remove_row_of_graph(::faiss::IndexIDMap& map, idx_t row) {
  ::faiss::Index* inside = map.index;
  while (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(inside)) inside = chain->index;
  auto* graph = dynamic_cast<HNSWOverPolar*>(inside);
  if (graph == nullptr) return false;
  const std::optional<idx_t> heir = graph->remove_row(row);
  if (!heir) return false;
  for (inside = map.index; inside != graph;) {
    inside->ntotal = graph->ntotal;
    inside = dynamic_cast<::faiss::IndexPreTransform&>(*inside).index;
  }
  const auto gone = map.id_map.begin() + row;
  const auto follower = map.id_map.begin() + *heir;
  if (auto* both_ways = dynamic_cast<::faiss::IndexIDMap2*>(&map)) {
    auto& rows = both_ways->rev_map;
    const auto renumber = [&rows](idx_t id, idx_t from, idx_t to) {
      if (const auto entry = rows.find(id); entry != rows.end() && entry->second == from)
        entry->second = to;
    };
    if (const auto entry = rows.find(*gone); entry != rows.end() && entry->second == row)
      rows.erase(entry);
    renumber(*follower, *heir, row);
    renumber(map.id_map.back(), map.ntotal - 1, *heir);
  }
  *gone = *follower;
  *follower = map.id_map.back();
  map.id_map.pop_back();
  map.ntotal = graph->ntotal;
  return true;
}

}  // namespace

size_t remove_from_id_map(::faiss::IndexIDMap& map, const ::faiss::IDSelector& sel) {
  if (const auto row = single_row(map, sel); row && remove_row_of_graph(map, *row)) return 1;
  const SelectedRows gone(sel, map.ntotal,
                          [&](idx_t row) { return map.id_map[static_cast<size_t>(row)]; });
  auto* both_ways = dynamic_cast<::faiss::IndexIDMap2*>(&map);
  // Rows of an inverted file inside have their positions as ids, which must close up as the map's.
  const size_t removed = counts_rows(*map.index) ? remove_selected_positions(*map.index, gone)
                                                 : remove_rows(*map.index, gone);
  // From here on nothing fails.
  size_t kept = 0;
  for (idx_t row = 0; row < map.ntotal; ++row) {
    const idx_t id = map.id_map[static_cast<size_t>(row)];
    if (both_ways != nullptr) {
      const auto entry = both_ways->rev_map.find(id);
      if (entry != both_ways->rev_map.end() && entry->second == row) {
        if (gone.is_member(row))
          both_ways->rev_map.erase(entry);
        else
          entry->second = static_cast<idx_t>(kept);
      }
    }
    if (!gone.is_member(row)) map.id_map[kept++] = id;
  }
  map.id_map.resize(kept);
  map.ntotal = map.index->ntotal;
  return removed;
}

}  // namespace polarquant
