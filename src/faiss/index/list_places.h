// SPDX-License-Identifier: MIT
// The way from ids to rows of an inverted file, each of which has an id of its own: FAISS's direct
// map in a quarter of its memory, since the ids themselves are in the lists.
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <faiss/IndexIVF.h>

#include <cstddef>

#include "src/core/place_table.h"
#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// FAISS's number of a list and an offset in it.
using ListPlace = idx_t;

class ListPlaces {
 public:
  /// Of no rows. The index must outlive it, and its lists hold the rows that are entered.
  explicit ListPlaces(const ::faiss::IndexIVF& index);

  /// Enters all rows of the lists. Throws bad_argument where two have the same id.
  void insert_all();
  /// −1 where no row has this id.
  ListPlace find(idx_t id) const;
  /// As PlaceTable::prefetch.
  void prefetch(idx_t id) const { rows_.prefetch(id); }
  size_t memory_bytes() const { return rows_.memory_bytes(); }

  /// Space for `more` rows: entering them then takes no memory.
  void reserve(size_t more);
  /// Throws unsupported for an offset beyond what a place here has bits for.
  void require_place(ListPlace at) const { packed(at); }
  /// A row whose id no other has. Throws bad_argument for an id below 0.
  void insert(idx_t id, ListPlace at);
  /// The row of an id that is there is now at another place.
  void move(idx_t id, ListPlace to) noexcept;
  /// No effect where no row has this id.
  void erase(idx_t id) noexcept;
  /// Gives back memory after rows went.
  void return_spare() noexcept;
  void clear() noexcept { rows_.clear(); }

 private:
  int64_t packed(ListPlace place) const;
  int64_t find_packed(idx_t id) const;
  auto id_at() const {
    return [this](int64_t place) { return id_of(place); };
  }
  idx_t id_of(int64_t place) const;

  const ::faiss::IndexIVF& index_;
  int offset_bits_;  // of a packed place; the list is above them
  PlaceTable rows_;
};

/// Those that an inverted file of ours keeps; null where it keeps none.
ListPlaces* places_of(const ::faiss::IndexIVF& index);

}  // namespace polarquant
