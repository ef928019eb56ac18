// SPDX-License-Identifier: MIT
// Where a range search of the C ABI puts what it finds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "src/capi/argument_checks.h"
#include "src/scan/search/search_result.h"

namespace polarquant::capi {

/// The caller's arrays: lims, (nq + 1), and as many scores and ids as there is capacity for.
class RangeOutput {
 public:
  /// Checks them, and the radius.
  RangeOutput(float radius, int64_t nq, int64_t capacity, int64_t* lims, float* scores,
              int64_t* ids)
      : nq_(nq), capacity_(capacity), lims_(lims), scores_(scores), ids_(ids) {
    require(!std::isnan(radius), StatusCode::bad_argument,
            "radius: {} is not allowed; a number or an infinity", radius);
    require_count("capacity", capacity, 0);
    require_object("lims", lims);
    require_array("scores", scores, capacity, 1, sizeof(float));
    require_array("ids", ids, capacity, 1, sizeof(int64_t));
  }

  /// All of `lims`, and of the rest what there is room for.
  void write(const RangeFound& found) const {
    std::copy(found.lims.begin(), found.lims.end(), lims_);
    const int64_t written = std::min(capacity_, lims_[nq_]);
    std::copy_n(found.scores.begin(), written, scores_);
    std::copy_n(found.ids.begin(), written, ids_);
  }
  void write_nothing_found() const { std::fill_n(lims_, nq_ + 1, int64_t{0}); }

 private:
  int64_t nq_;
  int64_t capacity_;
  int64_t* lims_;
  float* scores_;
  int64_t* ids_;
};

}  // namespace polarquant::capi
