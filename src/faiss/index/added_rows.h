// SPDX-License-Identifier: MIT
// Rows that an add put after those of an index, taken back unless they are kept.
#pragma once

#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexIVFFastScan.h>

#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/faiss/index/index_polar_mark.h"

namespace polarquant {

/// Rows of indexes of ours, of FAISS's flat codes and of its packed lists; others' rows stay.
class AddedRows {
 public:
  static bool can_take_back(const ::faiss::Index& index) {
    return dynamic_cast<const IndexPolar*>(&index) != nullptr ||
           dynamic_cast<const ::faiss::IndexFlatCodes*>(&index) != nullptr;
  }

  /// index: before the add of n rows.
  AddedRows(::faiss::Index& index, idx_t n)
      : polar_(dynamic_cast<IndexPolar*>(&index)),
        flat_(dynamic_cast<::faiss::IndexFlatCodes*>(&index)),
        packed_(dynamic_cast<::faiss::IndexIVFFastScan*>(&index)),
        rows_(index.ntotal) {
    if (polar_ != nullptr) mark_ = polar_->mark(n);
    if (packed_ != nullptr) {
      for (size_t list = 0; list < packed_->nlist; ++list)
        list_sizes_.push_back(packed_->get_list_size(list));
    }
  }
  ~AddedRows() {
    if (kept_) return;
    if (polar_ != nullptr && polar_->ntotal > rows_) polar_->go_back_to(std::move(mark_));
    if (flat_ != nullptr && flat_->ntotal > rows_) {
      flat_->codes.resize(static_cast<size_t>(rows_) * flat_->code_size);
      flat_->ntotal = rows_;
    }
    if (packed_ != nullptr) take_back_packed();
  }
  AddedRows(const AddedRows&) = delete;
  AddedRows& operator=(const AddedRows&) = delete;
  void keep() noexcept { kept_ = true; }

 private:
  void take_back_packed() noexcept {
    ::faiss::DirectMap& map = packed_->direct_map;
    if (map.type == ::faiss::DirectMap::Array) map.array.resize(static_cast<size_t>(rows_));
    for (auto entry = map.hashtable.begin(); entry != map.hashtable.end();) {
      const bool is_kept = entry->second >= 0 &&
                           static_cast<size_t>(::faiss::lo_offset(entry->second)) <
                               list_sizes_[static_cast<size_t>(::faiss::lo_listno(entry->second))];
      entry = is_kept ? std::next(entry) : map.hashtable.erase(entry);
    }
    for (size_t list = 0; list < list_sizes_.size(); ++list) {
      try {
        if (packed_->get_list_size(list) > list_sizes_[list])
          packed_->invlists->resize(list, list_sizes_[list]);
      } catch (...) {
        // Its ids went, which are what counts; its codes keep their room.
      }
    }
    packed_->ntotal = rows_;
  }

  IndexPolar* polar_;
  ::faiss::IndexFlatCodes* flat_;
  ::faiss::IndexIVFFastScan* packed_;
  idx_t rows_;
  IndexPolar::Mark mark_;
  std::vector<size_t> list_sizes_;  // of packed lists
  bool kept_ = false;
};

}  // namespace polarquant
