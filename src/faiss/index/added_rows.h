// SPDX-License-Identifier: MIT
// Rows that an add put behind those of an index, taken back unless they are kept.
#pragma once

#include <faiss/IndexFlatCodes.h>

#include <utility>

#include "polarquant/faiss.h"
#include "src/faiss/index/index_polar_mark.h"

namespace polarquant {

/// Of indexes of ours and of FAISS's flat codes; rows of others stay.
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
        rows_(index.ntotal) {
    if (polar_ != nullptr) mark_ = polar_->mark(n);
  }
  ~AddedRows() {
    if (kept_) return;
    if (polar_ != nullptr && polar_->ntotal > rows_) polar_->go_back_to(std::move(mark_));
    if (flat_ != nullptr && flat_->ntotal > rows_) {
      flat_->codes.resize(static_cast<size_t>(rows_) * flat_->code_size);
      flat_->ntotal = rows_;
    }
  }
  AddedRows(const AddedRows&) = delete;
  AddedRows& operator=(const AddedRows&) = delete;
  void keep() noexcept { kept_ = true; }

 private:
  IndexPolar* polar_;
  ::faiss::IndexFlatCodes* flat_;
  idx_t rows_;
  IndexPolar::Mark mark_;
  bool kept_ = false;
};

}  // namespace polarquant
