// SPDX-License-Identifier: MIT
#include "src/faiss/index/list_rows.h"

#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexIVFPQR.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "polarquant/faiss.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/faiss/index/list_places.h"
#include "src/faiss/index/polar_inverted_lists.h"

namespace polarquant {
namespace {

using ::faiss::DirectMap;

/// A list, and those of the new rows that it takes.
struct ListRows {
  idx_t list;
  size_t first;
  size_t end;
};

/// The order of rows by their lists, and who takes which of it; rows of no list are in none.
std::vector<ListRows> rows_by_list(idx_t n, const idx_t* lists, std::vector<idx_t>* order) {
  order->resize(static_cast<size_t>(n));
  std::iota(order->begin(), order->end(), idx_t{0});
  std::stable_sort(order->begin(), order->end(),
                   [&](idx_t a, idx_t b) { return lists[a] < lists[b]; });
  std::vector<ListRows> parts;
  for (size_t first = 0, end = 0; first < order->size(); first = end) {
    const idx_t list = lists[(*order)[first]];
    for (end = first; end < order->size() && lists[(*order)[end]] == list; ++end) {
    }
    if (list >= 0) parts.push_back({list, first, end});
  }
  return parts;
}

}  // namespace

idx_t shifted_id(idx_t id, idx_t add_id) {
  require(
      id >= 0 && add_id >= -id && (add_id < 0 || id <= std::numeric_limits<idx_t>::max() - add_id),
      StatusCode::bad_argument,
      "merge: id {} of other and add_id {} make an id outside 0 to 2^63-1", id, add_id);
  return id + add_id;
}

bool has_plain_lists(const ::faiss::IndexIVF& index) {
  if (index.invlists == nullptr) return false;
  const ::faiss::InvertedLists& lists = *index.invlists;
  return dynamic_cast<const PolarInvertedLists*>(&lists) != nullptr ||
         (typeid(lists) == typeid(::faiss::ArrayInvertedLists) &&
          dynamic_cast<const ::faiss::IndexIVFPQR*>(&index) == nullptr &&
          dynamic_cast<const ::faiss::IndexIVFFlatDedup*>(&index) == nullptr);
}

// ---- Rows that come ----

ListGrowth::ListGrowth(::faiss::IndexIVF& index)
    : index_(index),
      places_(places_of(index)),
      map_before_(index.direct_map.type),
      array_before_(index.direct_map.array.size()) {}

ListGrowth::~ListGrowth() {
  if (kept_) return;
  DirectMap& map = index_.direct_map;
  for (auto entry = replaced_.rbegin(); entry != replaced_.rend(); ++entry) {
    if (places_ != nullptr) {
      places_->move(entry->first, entry->second);
    } else if (map.type == DirectMap::Array) {
      map.array[static_cast<size_t>(entry->first)] = entry->second;
    } else {
      map.hashtable.find(entry->first)->second = entry->second;
    }
  }
  for (const idx_t id : mapped_) {
    if (places_ != nullptr) {
      places_->erase(id);
    } else {
      map.hashtable.erase(id);
    }
  }
  if (keeps_ids_anew_) dynamic_cast<IndexIVFPolar&>(index_).keep_ids(false);
  map.array.resize(array_before_);
  map.type = map_before_;
  for (auto size = sizes_before_.rbegin(); size != sizes_before_.rend(); ++size) {
    try {
      if (index_.invlists->list_size(size->list) > size->rows)
        index_.invlists->resize(size->list, size->rows);
    } catch (...) {
      // Lists of the caller's own may fail at any point.
    }
  }
}

void ListGrowth::use_map_of(const ::faiss::IndexIVF& other) {
  auto* polar = dynamic_cast<IndexIVFPolar*>(&index_);
  if (places_ != nullptr) return;
  if (polar != nullptr && places_of(other) != nullptr) {
    polar->keep_ids();
    keeps_ids_anew_ = true;
    places_ = places_of(index_);
  } else if (!other.direct_map.no()) {
    index_.direct_map.type = other.direct_map.type;
  }
}

void ListGrowth::require_new_ids(const char* call) const {
  if (replaced_.empty()) return;
  fail(StatusCode::bad_argument, "{}: id {} is in the index already, or comes twice", call,
       replaced_.front().first);
}

void ListGrowth::extend_map(idx_t rows) {
  DirectMap& map = index_.direct_map;
  if (map.type == DirectMap::Array) map.array.resize(array_before_ + static_cast<size_t>(rows), -1);
}

void ListGrowth::append(idx_t n, const uint8_t* codes, const idx_t* ids, idx_t first_id,
                        const idx_t* lists) {
  std::vector<idx_t> order;
  const std::vector<ListRows> parts = rows_by_list(n, lists, &order);
  const size_t known = sizes_before_.size();
  for (const ListRows& part : parts) {
    const auto list = static_cast<size_t>(part.list);
    sizes_before_.push_back({list, index_.invlists->list_size(list)});
  }
  const size_t code_size = index_.code_size;
  const auto id_of = [&](idx_t row) { return ids != nullptr ? ids[row] : first_id + row; };
  // Each list takes its rows, and the memory for them, at once.
  const auto count = static_cast<int64_t>(parts.size());
  parallel_for(count, thread_count(0, count), [&](int64_t i, int) {
    const ListRows& part = parts[static_cast<size_t>(i)];
    std::vector<idx_t> list_ids;
    std::vector<uint8_t> list_codes;
    list_ids.reserve(part.end - part.first);
    list_codes.reserve((part.end - part.first) * code_size);
    for (size_t at = part.first; at < part.end; ++at) {
      const uint8_t* code = codes + static_cast<size_t>(order[at]) * code_size;
      list_ids.push_back(id_of(order[at]));
      list_codes.insert(list_codes.end(), code, code + code_size);
    }
    index_.invlists->add_entries(static_cast<size_t>(part.list), list_ids.size(), list_ids.data(),
                                 list_codes.data());
  });
  if (places_ == nullptr && index_.direct_map.no()) return;
  if (places_ != nullptr) places_->reserve(static_cast<size_t>(n));
  // In the order of rows: the last of equal ids counts.
  std::vector<size_t> offsets(static_cast<size_t>(n));
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t at = parts[i].first; at < parts[i].end; ++at)
      offsets[static_cast<size_t>(order[at])] =
          sizes_before_[known + i].rows + (at - parts[i].first);
  }
  for (idx_t row = 0; row < n; ++row) {
    if (places_ != nullptr && row + PlaceTable::kLookAhead < n)
      places_->prefetch(id_of(row + PlaceTable::kLookAhead));
    if (lists[row] >= 0)
      note(id_of(row), static_cast<size_t>(lists[row]), offsets[static_cast<size_t>(row)]);
  }
}

void ListGrowth::append_lists(const ::faiss::InvertedLists& from, idx_t add_id) {
  for (size_t list = 0; list < index_.nlist; ++list)
    sizes_before_.push_back({list, index_.invlists->list_size(list)});
  const auto count = static_cast<int64_t>(index_.nlist);
  parallel_for(count, thread_count(0, count), [&](int64_t i, int) {
    const auto list = static_cast<size_t>(i);
    const size_t rows = from.list_size(list);
    if (rows == 0) return;
    const ::faiss::InvertedLists::ScopedIds held(&from, list);
    ::faiss::InvertedLists::ScopedCodes codes(&from, list);
    std::vector<idx_t> ids;
    ids.reserve(rows);
    for (size_t row = 0; row < rows; ++row) ids.push_back(shifted_id(held[row], add_id));
    index_.invlists->add_entries(list, rows, ids.data(), codes.get());
  });
  if (places_ == nullptr && index_.direct_map.no()) return;
  if (places_ != nullptr) places_->reserve(from.compute_ntotal());
  for (const ListSize& before : sizes_before_) {
    const size_t rows = index_.invlists->list_size(before.list);
    const ::faiss::InvertedLists::ScopedIds held(index_.invlists, before.list);
    for (size_t row = before.rows; row < rows; ++row) note(held[row], before.list, row);
  }
}

void ListGrowth::note(idx_t id, size_t list, size_t offset) {
  DirectMap& map = index_.direct_map;
  const auto place = static_cast<idx_t>(::faiss::lo_build(list, offset));
  if (places_ != nullptr) {
    const ListPlace before = places_->find(id);
    if (before < 0) {
      if (mapped_.size() == mapped_.capacity()) mapped_.reserve(2 * mapped_.size() + 1);
      places_->insert(id, place);
      mapped_.push_back(id);
    } else {
      places_->require_place(place);
      replaced_.emplace_back(id, before);
      places_->move(id, place);
    }
  } else if (map.type == DirectMap::Array) {
    require(id >= 0 && static_cast<size_t>(id) < map.array.size(), StatusCode::bad_argument,
            "id {} is beyond the rows, of which the index keeps a map by position", id);
    idx_t& entry = map.array[static_cast<size_t>(id)];
    if (entry >= 0) replaced_.emplace_back(id, entry);
    entry = place;
  } else if (map.type == DirectMap::Hashtable) {
    if (mapped_.size() == mapped_.capacity()) mapped_.reserve(2 * mapped_.size() + 1);
    const auto [entry, is_new] = map.hashtable.emplace(id, place);
    if (is_new) {
      mapped_.push_back(id);
      return;
    }
    replaced_.emplace_back(id, entry->second);
    entry->second = place;
  }
}

// ---- Rows that go ----

std::vector<ListPlace> places_where(const ::faiss::IndexIVF& index,
                                    const std::function<bool(size_t, size_t, idx_t)>& is_named) {
  std::vector<std::vector<ListPlace>> found(index.nlist);
  const auto count = static_cast<int64_t>(index.nlist);
  parallel_for(count, thread_count(0, count), [&](int64_t i, int) {
    const auto list = static_cast<size_t>(i);
    const ::faiss::InvertedLists::ScopedIds ids(index.invlists, list);
    const size_t rows = index.invlists->list_size(list);
    for (size_t row = 0; row < rows; ++row) {
      if (is_named(list, row, ids[row]))
        found[list].push_back(static_cast<idx_t>(::faiss::lo_build(list, row)));
    }
  });
  std::vector<ListPlace> places;
  for (const auto& in_list : found) places.insert(places.end(), in_list.begin(), in_list.end());
  return places;
}

RowsTakenOut::RowsTakenOut(::faiss::IndexIVF& index, std::vector<ListPlace> places)
    : index_(index), places_(std::move(places)), code_(index.code_size) {
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

void RowsTakenOut::take_out() noexcept {
  for (auto first = places_.begin(), end = first; first != places_.end(); first = end) {
    const auto list = static_cast<size_t>(::faiss::lo_listno(*first));
    end = std::find_if(first, places_.end(), [&](ListPlace place) {
      return static_cast<size_t>(::faiss::lo_listno(place)) != list;
    });
    const size_t kept = index_.invlists->list_size(list) - static_cast<size_t>(end - first);
    // Rows after `kept` that stay go to the places before it, the last one first.
    size_t last = index_.invlists->list_size(list);
    auto last_gone = end;
    for (auto place = first; place != end; ++place) {
      const auto hole = static_cast<size_t>(::faiss::lo_offset(*place));
      if (hole >= kept) break;
      for (--last;
           last_gone != first && static_cast<size_t>(::faiss::lo_offset(*(last_gone - 1))) == last;
           --last)
        --last_gone;
      move_row(list, last, hole);
    }
    index_.invlists->resize(list, kept);
  }
  if (auto* polar = dynamic_cast<PolarInvertedLists*>(index_.invlists))
    polar->note_removed(count(), static_cast<size_t>(index_.ntotal));
}

void RowsTakenOut::move_row(size_t list, size_t from, size_t to) noexcept {
  ::faiss::InvertedLists& lists = *index_.invlists;
  const idx_t id = lists.get_single_id(list, from);
  if (const auto* polar = dynamic_cast<const PolarInvertedLists*>(&lists)) {
    polar->lists().get(static_cast<int64_t>(list), static_cast<int64_t>(from), code_.data());
  } else {
    ::faiss::InvertedLists::ScopedCodes code(&lists, list, from);
    std::copy_n(code.get(), index_.code_size, code_.begin());
  }
  lists.update_entries(list, to, 1, &id, code_.data());
  ::faiss::DirectMap& map = index_.direct_map;
  const auto old_place = static_cast<idx_t>(::faiss::lo_build(list, from));
  const auto place = static_cast<idx_t>(::faiss::lo_build(list, to));
  if (ListPlaces* places = places_of(index_)) {
    if (places->find(id) == old_place) places->move(id, place);
  } else if (map.type == DirectMap::Array) {
    idx_t& entry = map.array[static_cast<size_t>(id)];
    if (entry == old_place) entry = place;
  } else if (map.type == DirectMap::Hashtable) {
    const auto entry = map.hashtable.find(id);
    if (entry != map.hashtable.end() && entry->second == old_place) entry->second = place;
  }
}

size_t remove_from_lists(::faiss::IndexIVF& index, const ::faiss::IDSelector& sel) {
  DirectMap& map = index.direct_map;
  require(map.type != DirectMap::Array, StatusCode::unsupported,
          "remove: the inverted file keeps a map by position, which rows that go would leave holes "
          "in");
  std::vector<ListPlace> places;
  ListPlaces* by_id = places_of(index);
  const auto* listed = dynamic_cast<const ::faiss::IDSelectorArray*>(&sel);
  if (by_id != nullptr && listed != nullptr) {
    for (size_t i = 0; i < static_cast<size_t>(listed->n); ++i) {
      if (const ListPlace place = by_id->find(listed->ids[i]); place >= 0) places.push_back(place);
    }
  } else if (map.type == DirectMap::Hashtable && listed != nullptr) {
    for (size_t i = 0; i < static_cast<size_t>(listed->n); ++i) {
      const auto entry = map.hashtable.find(listed->ids[i]);
      if (entry != map.hashtable.end() && entry->second >= 0) places.push_back(entry->second);
    }
  } else {
    places = places_where(
        index, [&sel](size_t /*list*/, size_t /*row*/, idx_t id) { return sel.is_member(id); });
  }
  RowsTakenOut rows(index, std::move(places));
  std::vector<idx_t> gone;
  if (by_id != nullptr || map.type == DirectMap::Hashtable) {
    gone.reserve(rows.count());
    for (const ListPlace place : rows.places()) {
      gone.push_back(index.invlists->get_single_id(static_cast<size_t>(::faiss::lo_listno(place)),
                                                   static_cast<size_t>(::faiss::lo_offset(place))));
    }
  }
  const size_t removed = rows.count();
  // From here on nothing fails.
  for (const idx_t id : gone) {
    if (by_id != nullptr) {
      by_id->erase(id);
    } else {
      map.hashtable.erase(id);
    }
  }
  rows.take_out();
  if (by_id != nullptr) by_id->return_spare();
  index.ntotal -= static_cast<idx_t>(removed);
  return removed;
}

}  // namespace polarquant
