// SPDX-License-Identifier: MIT
#include "src/faiss/index/list_places.h"

#include <bit>

#include "polarquant/faiss.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

constexpr int kPlaceBits = std::bit_width(static_cast<uint64_t>(PlaceTable::kMostPlace));

}  // namespace

ListPlaces::ListPlaces(const ::faiss::IndexIVF& index)
    : index_(index), offset_bits_(kPlaceBits - std::bit_width(index.nlist)) {}

void ListPlaces::insert_all() {
  reserve(static_cast<size_t>(index_.ntotal));
  for (size_t list = 0; list < index_.nlist; ++list) {
    const ::faiss::InvertedLists::ScopedIds ids(index_.invlists, list);
    const size_t rows = index_.invlists->list_size(list);
    for (size_t row = 0; row < rows; ++row) {
      require(find_packed(ids[row]) < 0, StatusCode::bad_argument,
              "id {} is that of two rows; each has an id of its own where ids are kept", ids[row]);
      insert(ids[row], static_cast<ListPlace>(::faiss::lo_build(list, row)));
    }
  }
}

ListPlace ListPlaces::find(idx_t id) const {
  const int64_t place = find_packed(id);
  if (place < 0) return -1;
  const auto list = static_cast<uint64_t>(place) >> offset_bits_;
  const auto offset = static_cast<uint64_t>(place) & ((uint64_t{1} << offset_bits_) - 1);
  return static_cast<ListPlace>(::faiss::lo_build(list, offset));
}

void ListPlaces::reserve(size_t more) {
  rows_.reserve(rows_.size() + static_cast<int64_t>(more), id_at());
}

void ListPlaces::insert(idx_t id, ListPlace at) {
  require(id >= 0, StatusCode::bad_argument,
          "id {} is not allowed; 0 and above, where ids are kept", id);
  rows_.insert(id, packed(at), id_at());
}

void ListPlaces::move(idx_t id, ListPlace to) noexcept {
  const int64_t from = find_packed(id);
  if (from >= 0) rows_.move(id, from, packed(to));
}

void ListPlaces::erase(idx_t id) noexcept {
  const int64_t at = find_packed(id);
  if (at >= 0) rows_.erase(id, at);
}

void ListPlaces::return_spare() noexcept { rows_.return_spare(id_at()); }

int64_t ListPlaces::packed(ListPlace place) const {
  const auto list = ::faiss::lo_listno(place);
  const auto offset = ::faiss::lo_offset(place);
  require(offset >> offset_bits_ == 0, StatusCode::unsupported,
          "list {} has a row {}; where ids are kept a list has at most 2^{} rows", list, offset,
          offset_bits_);
  return static_cast<int64_t>(static_cast<uint64_t>(list) << offset_bits_ |
                              static_cast<uint64_t>(offset));
}

int64_t ListPlaces::find_packed(idx_t id) const { return rows_.find(id, id_at()); }

// A caller of FAISS's may have shortened a list: then −1, the id of no row that is entered.
idx_t ListPlaces::id_of(int64_t place) const {
  const auto list = static_cast<size_t>(static_cast<uint64_t>(place) >> offset_bits_);
  const auto offset = static_cast<size_t>(place) & ((size_t{1} << offset_bits_) - 1);
  if (offset >= index_.invlists->list_size(list)) return -1;
  return index_.invlists->get_single_id(list, offset);
}

ListPlaces* places_of(const ::faiss::IndexIVF& index) {
  const auto* polar = dynamic_cast<const IndexIVFPolar*>(&index);
  return polar != nullptr ? polar->places_.get() : nullptr;
}

}  // namespace polarquant
