// SPDX-License-Identifier: MIT
// Rows of FAISS's inverted files, with the map from ids to rows: put in and taken out so that a
// failure, out of memory among them, changes nothing. FAISS's own loops end the process where
// memory runs out, or leave rows in lists that nobody counts.
#pragma once

#include <faiss/IndexIVF.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/list_places.h"

namespace polarquant {

/// id + add_id. Throws bad_argument where one of the two is no id of 0 and above.
idx_t shifted_id(idx_t id, idx_t add_id);

/// Whether all rows of an inverted file are in lists that become shorter without a failure.
bool has_plain_lists(const ::faiss::IndexIVF& index);

/// New rows of lists, taken out again unless keep() is called. The caller keeps the index's ntotal.
class ListGrowth {
 public:
  explicit ListGrowth(::faiss::IndexIVF& index);
  ~ListGrowth();
  ListGrowth(const ListGrowth&) = delete;
  ListGrowth& operator=(const ListGrowth&) = delete;

  /// The way from ids to rows that another index has, if any, for one without rows.
  void use_map_of(const ::faiss::IndexIVF& other);
  /// Extends a map by position for rows to come.
  void extend_map(idx_t rows);
  /// n codes, each for the list that lists (n) names, −1: for none. ids: (n), or null for first_id,
  /// first_id + 1, …
  void append(idx_t n, const uint8_t* codes, const idx_t* ids, idx_t first_id, const idx_t* lists);
  /// All rows of as many lists, with ids add_id larger.
  void append_lists(const ::faiss::InvertedLists& from, idx_t add_id);

  /// Places that the map had for ids that came again, in this order, by these ids.
  const std::vector<std::pair<idx_t, idx_t>>& replaced() const { return replaced_; }
  /// Throws bad_argument where an id came again.
  void require_new_ids(const char* call) const;
  void keep() noexcept { kept_ = true; }

 private:
  struct ListSize {
    size_t list;
    size_t rows;
  };
  void note(idx_t id, size_t list, size_t offset);

  ::faiss::IndexIVF& index_;
  ListPlaces* places_;
  bool keeps_ids_anew_ = false;
  ::faiss::DirectMap::Type map_before_;
  size_t array_before_;
  std::vector<ListSize> sizes_before_;  // for lists that took rows
  std::vector<idx_t> mapped_;           // ids that the way to rows did not have
  std::vector<std::pair<idx_t, idx_t>> replaced_;
  bool kept_ = false;
};

/// Where the rows are that is_named(list, row, id) says, list by list. Several threads ask it; what
/// it throws ends the call.
std::vector<ListPlace> places_where(const ::faiss::IndexIVF& index,
                                    const std::function<bool(size_t, size_t, idx_t)>& is_named);

/// Takes rows out, by moving the last ones of their lists to their places; the map follows. All
/// memory is taken before, so that the second step cannot fail.
class RowsTakenOut {
 public:
  RowsTakenOut(::faiss::IndexIVF& index, std::vector<ListPlace> places);
  size_t count() const { return places_.size(); }
  /// Each once, rising.
  const std::vector<ListPlace>& places() const { return places_; }
  void take_out() noexcept;

 private:
  void move_row(size_t list, size_t from, size_t to) noexcept;

  ::faiss::IndexIVF& index_;
  std::vector<ListPlace> places_;  // rising
  std::vector<uint8_t> code_;
};

/// remove_ids for an index with plain lists. Throws unsupported where rows have no ids of their own
/// but a map by position.
size_t remove_from_lists(::faiss::IndexIVF& index, const ::faiss::IDSelector& sel);

}  // namespace polarquant
