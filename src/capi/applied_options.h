// SPDX-License-Identifier: MIT
// polar_search_options as a search of an index takes them.
#pragma once

#include "src/capi/filter_selector.h"
#include "src/capi/search_options.h"
#include "src/faiss/index/index_search.h"

namespace polarquant::capi {

/// Of checked options; borrows what they point to.
class AppliedOptions {
 public:
  explicit AppliedOptions(const polar_search_options& options)
      : selector_(make_row_filter(options)) {
    applied_.selector = options.filter != POLAR_FILTER_NONE ? &selector_ : nullptr;
    applied_.exactness = options.exactness;
    applied_.nprobe = options.nprobe;
    applied_.ef_search = options.ef_search;
    applied_.k_factor = options.k_factor;
    applied_.progress = make_request(0, nullptr, {}, options, 0).progress;
  }
  AppliedOptions(const AppliedOptions&) = delete;
  AppliedOptions& operator=(const AppliedOptions&) = delete;

  const IndexSearchOptions& options() const { return applied_; }

 private:
  FilterSelector selector_;
  IndexSearchOptions applied_;
};

}  // namespace polarquant::capi
