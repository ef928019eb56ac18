// SPDX-License-Identifier: MIT
// The requests that rows in the row format answer, whoever owns their memory.
#pragma once

#include "src/scan/stores/row_store.h"

namespace polarquant {

/// Over row_codes().
class RowCodeStore : public RowStore {
 public:
  void search(const Codec& codec, const SearchRequest& request,
              const SearchResult& result) const override;
  void get(const Codec& codec, int64_t row, uint8_t* code) const override;
  void decode(const Codec& codec, int64_t first, int64_t count, Reconstruction kind,
              float* x) const override;
  RowTerms decode_for_score(const Codec& codec, int64_t row, float* y) const override;
};

}  // namespace polarquant
