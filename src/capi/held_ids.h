// SPDX-License-Identifier: MIT
// The ids that callers gave to the rows of an index, wherever they are kept: by an inverted file of
// ours, or by the handle (caller_ids.h) for FAISS's kinds and files that are mapped. An IndexPolar
// checks its ids itself, and is none of this file's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/capi/index_handle.h"

namespace polarquant::capi {

/// The inverted file of ours that keeps the callers' ids; null where the handle does.
const IndexIVFPolar* lists_with_ids(const polar_index& index);

bool holds_id(const polar_index& index, int64_t id);
/// In any order.
std::vector<int64_t> held_ids(const polar_index& index);

/// New ids of the caller's, (n), on their way into an index. Throws bad_argument where one is in
/// the index or comes twice. The handle's ids take them in, and out again unless commit() is
/// called.
class NewIds {
 public:
  NewIds(polar_index& index, int64_t n, const int64_t* ids);
  ~NewIds() {
    if (!committed_) give_back();
  }
  NewIds(const NewIds&) = delete;
  NewIds& operator=(const NewIds&) = delete;
  void commit() { committed_ = true; }

 private:
  void give_back();

  CallerIds& in_handle_;
  std::span<const int64_t> taken_;
  bool committed_ = false;
};

}  // namespace polarquant::capi
