// SPDX-License-Identifier: MIT
#include "src/faiss/index/list_positions.h"

#include <algorithm>
#include <bit>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_codes.h"
#include "src/faiss/foreign/memory_check.h"
#include "src/faiss/index/coded_rows.h"
#include "src/faiss/index/polar_inverted_lists.h"
#include "src/scan/layout/row_removal.h"

namespace polarquant {
namespace {

using ::faiss::DirectMap;

void require_changeable(const char* call, const ::faiss::IndexIVF& index) {
  require(has_plain_lists(index), StatusCode::unsupported,
          "{}: rows of inverted files of this kind cannot be changed", call);
  if (const auto* polar = dynamic_cast<const IndexIVFPolar*>(&index))
    polar->require_changeable(call);
}

/// Where the rows are whose bit is 1.
std::vector<ListPlace> places_of_rows(const char* call, const ::faiss::IndexIVF& index,
                                      const std::vector<uint64_t>& named) {
  require_changeable(call, index);
  std::vector<ListPlace> places = places_where(index, [&](size_t list, size_t row, idx_t id) {
    require(id >= 0 && id < index.ntotal, StatusCode::state_mismatch,
            "{}: row {} of list {} has the id {}; positions of the {} rows are needed", call, row,
            list, id, index.ntotal);
    return is_removed(named, id);
  });
  size_t wanted = 0;
  for (const uint64_t word : named) wanted += static_cast<size_t>(std::popcount(word));
  require(places.size() == wanted, StatusCode::state_mismatch,
          "{}: the lists have {} of {} rows; rows with other ids than their positions, or in no "
          "list, cannot be changed here",
          call, places.size(), wanted);
  return places;
}

std::vector<uint64_t> bits_of(idx_t rows, std::span<const idx_t> positions) {
  std::vector<uint64_t> bits(static_cast<size_t>(rows + 63) / 64);
  for (const idx_t row : positions) bits[static_cast<size_t>(row / 64)] |= uint64_t{1} << row % 64;
  return bits;
}

/// x coded for the lists that it belongs to.
CodedRows encode_for(const ::faiss::IndexIVF& index, idx_t n, const float* x) {
  if (const auto* polar = dynamic_cast<const IndexIVFPolar*>(&index)) {
    require_search_memory(*index.quantizer, n, 1);
    return polar->encode_rows(n, x);
  }
  CodedRows coded;
  coded.lists.resize(static_cast<size_t>(n));
  coded.codes.resize(static_cast<size_t>(n) * index.code_size);
  require_search_memory(*index.quantizer, n, 1);
  index.quantizer->assign(n, x, coded.lists.data());
  encode_for_lists(index, n, x, coded.lists.data(), coded.codes.data());
  return coded;
}

}  // namespace

// ---- Rows that go ----

ListPositionRemoval::ListPositionRemoval(::faiss::IndexIVF& index,
                                         const std::vector<uint64_t>& gone)
    : index_(index),
      gone_(gone),
      rows_(index, places_of_rows("remove", index, gone)),
      kept_before_(gone.size()) {
  require(places_of(index) == nullptr && index.direct_map.type != DirectMap::Hashtable,
          StatusCode::unsupported,
          "remove: the inverted file inside keeps ids of its own; drop them with keep_ids(false) "
          "or an empty direct map");
  idx_t kept = 0;
  for (size_t word = 0; word < gone.size(); ++word) {
    kept_before_[word] = kept;
    kept += 64 - std::popcount(gone[word]);
  }
}

idx_t ListPositionRemoval::new_number(idx_t position) const noexcept {
  const auto word = static_cast<size_t>(position / 64);
  const uint64_t before = gone_[word] & ((uint64_t{1} << position % 64) - 1);
  return kept_before_[word] + position % 64 - std::popcount(before);
}

void ListPositionRemoval::apply() noexcept {
  rows_.take_out();
  auto* polar = dynamic_cast<PolarInvertedLists*>(index_.invlists);
  auto* plain = dynamic_cast<::faiss::ArrayInvertedLists*>(index_.invlists);
  for (size_t list = 0; list < index_.nlist; ++list) {
    const size_t rows = index_.invlists->list_size(list);
    for (size_t row = 0; row < rows; ++row) {
      if (polar != nullptr) {
        polar->set_id(list, row, new_number(polar->get_single_id(list, row)));
      } else {
        idx_t& id = plain->ids[list][row];
        id = new_number(id);
      }
    }
  }
  // What moved has its new place in a map by position already, under its old number.
  if (index_.direct_map.type == DirectMap::Array) {
    auto& places = index_.direct_map.array;
    const auto mapped = static_cast<idx_t>(places.size());
    const idx_t kept = move_kept_rows(mapped, gone_, [&](int64_t from, int64_t to) {
      places[static_cast<size_t>(to)] = places[static_cast<size_t>(from)];
    });
    places.resize(static_cast<size_t>(kept));
  }
  index_.ntotal -= static_cast<idx_t>(rows_.count());
}

// ---- Rows that come in the place of others ----

ListPositionUpdate::ListPositionUpdate(::faiss::IndexIVF& index, std::span<const idx_t> positions,
                                       const float* x)
    : old_rows_(index, places_of_rows("update_vectors", index, bits_of(index.ntotal, positions))),
      growth_(index) {
  const idx_t n = std::ssize(positions);
  const CodedRows coded = encode_for(index, n, x);
  for (idx_t i = 0; i < n; ++i) {
    const idx_t list = coded.lists[static_cast<size_t>(i)];
    require(list >= 0 && static_cast<size_t>(list) < index.nlist, StatusCode::unsupported,
            "update_vectors: the coarse quantizer has list {} for row {} of x; 0 to {} are there",
            list, i, index.nlist - 1);
  }
  growth_.append(n, coded.codes.data(), positions.data(), 0, coded.lists.data());
}

void ListPositionUpdate::apply() noexcept {
  growth_.keep();
  old_rows_.take_out();
}

}  // namespace polarquant
