// SPDX-License-Identifier: MIT
// The object of an index handle of the C ABI, in builds with FAISS.
#pragma once

#include <faiss/Index.h>

#include <cstdint>
#include <memory>
#include <string>

#include "polarquant/faiss.h"
#include "polarquant/polarquant.h"
#include "src/capi/caller_ids.h"
#include "src/codec/codec.h"
#include "src/core/rows_state.h"
#include "src/core/turn_lock.h"
#include "src/faiss/foreign/faiss_interrupt.h"

struct polar_index {
  enum class IdOrigin { undecided, positions, callers };

  polar_index() { polarquant::let_faiss_be_stopped(); }

  std::string description;
  int32_t dim = 0;
  polarquant::Metric metric = polarquant::Metric::inner_product;
  std::unique_ptr<::faiss::Index> faiss;
  IdOrigin row_ids = IdOrigin::undecided;  // decided by the first row
  uint64_t rows_state = polarquant::new_rows_state();
  mutable polarquant::TurnLock use;
  /// The callers' ids, where the index does not keep them itself (held_ids.h).
  polarquant::capi::CallerIds ids;

  bool is_polar() const {
    return dynamic_cast<const polarquant::IndexPolar*>(faiss.get()) != nullptr;
  }
};
