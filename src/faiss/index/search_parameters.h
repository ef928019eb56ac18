// SPDX-License-Identifier: MIT
// FAISS's search parameters: as a request of ours, and on their way through an id map.
#pragma once

#include <memory>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_request.h"

namespace polarquant {

/// A search of n queries x that FAISS's caller makes with params, which may be null and are
/// borrowed: their selector, exactness, progress and nodes kept. `exactness`: the index's own.
/// Throws bad_argument for fewer nodes than 1.
SearchRequest make_request(idx_t n, const float* x, const SearchGoal& goal,
                           const ::faiss::SearchParameters* params, float exactness);

/// A copy of search parameters for the index inside an id map, in which each selector is asked for
/// id_map[row]. The caller's object is left alone, since other threads may be searching with it.
class TranslatedParameters {
 public:
  /// params may be null; id_map and what params points to are borrowed. Throws unsupported for a
  /// class of parameters it does not know how to copy.
  TranslatedParameters(const ::faiss::SearchParameters* params, const std::vector<idx_t>& id_map);

  const ::faiss::SearchParameters* get() const { return translated_; }

 private:
  ::faiss::SearchParameters* translate(const ::faiss::SearchParameters* params);
  template <typename Parameters>
  Parameters* copy(const Parameters& params);

  const std::vector<idx_t>& id_map_;
  std::vector<std::unique_ptr<::faiss::SearchParameters>> copies_;
  std::vector<std::unique_ptr<::faiss::IDSelector>> selectors_;
  ::faiss::SearchParameters* translated_;
};

}  // namespace polarquant
