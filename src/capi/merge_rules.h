// SPDX-License-Identifier: MIT
// When rows of one index handle may come after those of another, in memory and in files.
#pragma once

#include <faiss/impl/FaissException.h>

#include <cstdint>

#include "src/capi/index_handle.h"
#include "src/core/status.h"
#include "src/faiss/foreign/faiss_error.h"

namespace polarquant::capi {

/// Throws state_mismatch unless codes of both are made alike, bad_argument where one has ids of the
/// caller's and the other has none.
void require_rows_mix(const polar_index& index, const polar_index& other);

/// What the ids of rows of `other` grow by when they come after those of `index`.
int64_t numbers_before(const polar_index& index, const polar_index& other);

/// What a refusal of `call`, a check or a merge, is told as.
template <typename Call>
void with_merge_errors(const polar_index& index, const polar_index& other, StatusCode refused,
                       const Call& call) {
  try {
    call();
  } catch (const FaissError&) {
    throw;  // ours: its text says what is wrong
  } catch (const ::faiss::FaissException& error) {
    fail(refused, "other: \"{}\" does not merge into \"{}\" ({})", other.description,
         index.description, error.what());
  }
}

}  // namespace polarquant::capi
