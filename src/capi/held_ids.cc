// SPDX-License-Identifier: MIT
#include "src/capi/held_ids.h"

#include "src/capi/faiss_parts.h"
#include "src/core/place_table.h"
#include "src/core/status.h"
#include "src/faiss/index/list_places.h"

namespace polarquant::capi {
namespace {

void require_new(bool is_new, int64_t id, int64_t at) {
  require(is_new, StatusCode::bad_argument,
          "ids: {} at {} is in the index or given twice; new ids are allowed", id, at);
}

void require_new_in_lists(const IndexIVFPolar& lists, std::span<const int64_t> ids) {
  PlaceTable given;
  const auto id_at = [ids](int64_t place) { return ids[static_cast<size_t>(place)]; };
  if (ids.size() > 1) given.reserve(std::ssize(ids), id_at);
  const ListPlaces* held = places_of(lists);
  for (int64_t i = 0; i < std::ssize(ids); ++i) {
    if (const int64_t next = i + PlaceTable::kLookAhead; next < std::ssize(ids)) {
      if (held != nullptr) held->prefetch(id_at(next));
      given.prefetch(id_at(next));
    }
    require_new(!lists.has_id(id_at(i)) && given.find(id_at(i), id_at) < 0, id_at(i), i);
    if (ids.size() > 1) given.insert(id_at(i), i, id_at);
  }
}

}  // namespace

const IndexIVFPolar* lists_with_ids(const polar_index& index) {
  const auto* lists = dynamic_cast<const IndexIVFPolar*>(inverted_file(*index.faiss));
  return lists != nullptr && lists->keeps_ids() && finds_ids(*index.faiss) ? lists : nullptr;
}

bool holds_id(const polar_index& index, int64_t id) {
  if (const IndexIVFPolar* lists = lists_with_ids(index)) return lists->has_id(id);
  return index.ids.contains(id);
}

std::vector<int64_t> held_ids(const polar_index& index) {
  const IndexIVFPolar* lists = lists_with_ids(index);
  if (lists == nullptr) return index.ids.sorted();
  std::vector<int64_t> ids;
  ids.reserve(static_cast<size_t>(lists->ntotal));
  for (size_t list = 0; list < lists->nlist; ++list) {
    ::faiss::InvertedLists::ScopedIds in_list(lists->invlists, list);
    ids.insert(ids.end(), in_list.get(), in_list.get() + lists->invlists->list_size(list));
  }
  return ids;
}

NewIds::NewIds(polar_index& index, int64_t n, const int64_t* ids) : in_handle_(index.ids) {
  if (const IndexIVFPolar* lists = lists_with_ids(index)) {
    require_new_in_lists(*lists, {ids, static_cast<size_t>(n)});
    return;
  }
  std::unordered_set<int64_t>& held = in_handle_.held();
  try {
    held.reserve(held.size() + static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      require_new(held.insert(ids[i]).second, ids[i], i);
      taken_ = {ids, static_cast<size_t>(i + 1)};
    }
  } catch (...) {
    give_back();
    throw;
  }
}

void NewIds::give_back() {
  for (const int64_t id : taken_) in_handle_.held().erase(id);
}

}  // namespace polarquant::capi
