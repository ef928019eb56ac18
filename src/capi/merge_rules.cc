// SPDX-License-Identifier: MIT
#include "src/capi/merge_rules.h"

#include "src/capi/faiss_parts.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant::capi {

void require_rows_mix(const polar_index& index, const polar_index& other) {
  require(index.dim == other.dim && index.metric == other.metric, StatusCode::state_mismatch,
          "other: has {} dimensions and metric {}; {} and {} are needed", other.dim,
          static_cast<int>(other.metric), index.dim, static_cast<int>(index.metric));
  require(index.row_ids == other.row_ids || index.faiss->ntotal == 0 || other.faiss->ntotal == 0,
          StatusCode::bad_argument,
          "other: one of both holds rows with ids of the caller's, the other rows without");
  with_merge_errors(index, other, StatusCode::state_mismatch,
                    [&] { require_mergeable(*index.faiss, *other.faiss); });
}

int64_t numbers_before(const polar_index& index, const polar_index& other) {
  const bool renumbered = other.row_ids == polar_index::IdOrigin::positions &&
                          id_support(*index.faiss) != IdSupport::none;
  return renumbered ? index.faiss->ntotal : 0;
}

}  // namespace polarquant::capi
