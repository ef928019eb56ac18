// SPDX-License-Identifier: MIT
// Search parameters on their way through an id map: the caller's selector is over the map's ids,
// the index inside asks for row numbers.
#pragma once

#include <memory>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// Asks a selector over the map's ids for row numbers. selector may be null, and is not asked then.
class TranslatedSelector final : public ::faiss::IDSelector {
 public:
  TranslatedSelector(const ::faiss::IDSelector* selector, const std::vector<int64_t>& id_map)
      : selector_(selector), id_map_(id_map) {}
  bool is_member(int64_t row) const override {
    return selector_->is_member(id_map_[static_cast<size_t>(row)]);
  }

 private:
  const ::faiss::IDSelector* selector_;
  const std::vector<int64_t>& id_map_;
};

/// A copy of search parameters in which each selector is asked for id_map[row]. The caller's object
/// is left alone, since other threads may be searching with it.
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
