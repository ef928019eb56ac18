// SPDX-License-Identifier: MIT
// What the calls that change an index ask of it and of the rows that come.
#pragma once

#include <cstdint>
#include <memory>

#include "src/capi/index_handle.h"

namespace polarquant::capi {

/// A call that changes an index. What it does before begin() others may do beside it: search, too.
class IndexChange {
 public:
  IndexChange(const char* argument, polar_index* index);

  polar_index& index() { return index_; }
  /// Waits for the calls that read it. Its rows count as others from now on.
  void begin();

 private:
  polar_index& index_;
  Changing changing_;
};

/// A new FAISS index of the handle's description.
std::unique_ptr<::faiss::Index> make_untrained(const polar_index& index);
/// Throws not_trained when rows cannot be added yet.
void require_trained(const polar_index& index);
/// Throws state_mismatch when the index holds rows, which training would leave unreadable.
void require_no_rows(const polar_index& index);
/// Throws bad_argument when the index holds rows of the other kind, with or without ids.
void require_row_ids(const polar_index& index, polar_index::IdOrigin wanted);
/// Ids, (n), that a caller gives to rows.
void require_new_row_ids(int64_t n, const int64_t* ids);

}  // namespace polarquant::capi
