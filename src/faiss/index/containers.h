// SPDX-License-Identifier: MIT
// FAISS's containers around an index of ours: subclasses that do what FAISS 1.7.3's own do not, and
// the walk that puts our indexes into what FAISS's factory built.
//
// FAISS's IndexPreTransform trains its index only while that index is_trained is false, so optional
// training never reaches it; IndexIDMap and IndexRefine refuse all search parameters; their loops
// hang in a fork()ed child, where OpenMP's pool is gone; and their changes of rows are not undone
// when they fail (row_changes.h).
#pragma once

#include <faiss/IndexIDMap.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include <functional>
#include <memory>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

struct PreTransformOverPolar final : ::faiss::IndexPreTransform {
  using IndexPreTransform::IndexPreTransform;

  /// Trains the index too, even where it needs no training. Refused once the index holds rows.
  using IndexPreTransform::train;
  void train(idx_t n, const float* x) override;
  void add(idx_t n, const float* x) override;
  void add_with_ids(idx_t n, const float* x, const idx_t* xids) override;
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  void sa_encode(idx_t n, const float* x, uint8_t* bytes) const override;
  void merge_from(::faiss::Index& other, idx_t add_id = 0) override;
};

struct IDMapOverPolar final : ::faiss::IndexIDMap {
  explicit IDMapOverPolar(::faiss::Index* inner) : IndexIDMapTemplate(inner) {}

  /// Selectors in params are asked for the map's ids.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  void add_with_ids(idx_t n, const float* x, const idx_t* xids) override;
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  void merge_from(::faiss::Index& other, idx_t add_id = 0) override;
};

struct IDMap2OverPolar final : ::faiss::IndexIDMap2 {
  explicit IDMap2OverPolar(::faiss::Index* inner) : IndexIDMap2Template(inner) {}

  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  void reconstruct(idx_t key, float* recons) const override;
  void add_with_ids(idx_t n, const float* x, const idx_t* xids) override;
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  void merge_from(::faiss::Index& other, idx_t add_id = 0) override;
};

struct RefineOverPolar final : ::faiss::IndexRefine {
  using IndexRefine::IndexRefine;

  using IndexRefine::train;
  void train(idx_t n, const float* x) override;
  /// When one of the two indexes refuses the rows, neither has them.
  void add(idx_t n, const float* x) override;
  /// Both lose the same rows, or none; the others close up in their order.
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  /// params go to the base index; of SearchParametersRefine, and of IndexRefineSearchParameters
  /// where FAISS has them, k_factor counts and base_index_params go there. Ties: lower id first.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  /// All rows within the radius by the refining index, of those that the base index finds
  /// (refine_range.h); best first, ties: lower id first. params as for search; k_factor is not
  /// read.
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
};

/// Returns the index that replaces a leaf, or null to keep the leaf. An inverted file is a leaf
/// too, whose quantizer the replacement takes.
using LeafReplacement = std::function<std::unique_ptr<::faiss::Index>(::faiss::Index& leaf)>;

/// Replaces leaves inside the containers of `index`, an empty index that owns its parts, and the
/// containers around them by the subclasses above. Returns whether any leaf was replaced.
bool replace_leaves(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement);

}  // namespace polarquant
