// SPDX-License-Identifier: MIT
#include "src/faiss/index/containers.h"

#include <faiss/IndexIVF.h>
#include <faiss/impl/AuxIndexStructures.h>  // RangeSearchResult

#include <algorithm>
#include <utility>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/index_parts.h"
#include "src/faiss/index/position_removal.h"
#include "src/faiss/index/range_result.h"
#include "src/faiss/index/refine_range.h"
#include "src/faiss/index/refine_rows.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/row_normalization.h"
#include "src/faiss/index/search_parameters.h"

namespace polarquant {
namespace {

/// By FAISS's calls, which heed params of FAISS's own parts inside.
template <typename Map>
void search_id_map(const Map& map, const SearchRequest& request, const SearchResult& result,
                   const ::faiss::SearchParameters* params) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    const TranslatedParameters translated(params, map.id_map);
    map.index->search(request.nq, request.queries, request.goal.k, result.scores, result.ids,
                      translated.get());
    replace_ids(request, result,
                [&map](int64_t row) { return map.id_map[static_cast<size_t>(row)]; });
  });
}

template <typename Map>
void range_search_id_map(const Map& map, idx_t n, const float* x, float radius,
                         ::faiss::RangeSearchResult* result,
                         const ::faiss::SearchParameters* params) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    const TranslatedParameters translated(params, map.id_map);
    map.index->range_search(n, x, radius, result, translated.get());
    for (size_t i = 0; i < result->lims[result->nq]; ++i)
      result->labels[i] = map.id_map[static_cast<size_t>(result->labels[i])];
  });
}

struct RefineParameters {
  float k_factor;
  const ::faiss::SearchParameters* base;
};

// Template, so that the branch not taken need not compile.
template <typename Parameters>
RefineParameters refine_parameters(float k_factor, const ::faiss::SearchParameters* params) {
  if (const auto* given = dynamic_cast<const SearchParametersRefine*>(params)) {
    return {given->k_factor, given->base_index_params};
  }
  if constexpr (Defined<Parameters>) {
    if (const auto* given = dynamic_cast<const Parameters*>(params)) {
      return {given->k_factor, given->base_index_params};
    }
  }
  return {k_factor, params};
}

/// The exactness of searches of the index that finds rows, with these parameters.
SearchRequest request_of_base(const ::faiss::Index& base, idx_t n, const float* x, float radius,
                              const ::faiss::SearchParameters* params) {
  while (const auto* outer = dynamic_cast<const ::faiss::SearchParametersPreTransform*>(params))
    params = outer->index_params;
  const ::faiss::Index& finding = finding_index(base);
  float exactness = kDefaultExactness;
  if (const auto* polar = dynamic_cast<const IndexPolar*>(&finding)) exactness = polar->exactness;
  if (const auto* ivf = dynamic_cast<const IndexIVFPolar*>(&finding)) exactness = ivf->exactness;
  return make_request(n, x, SearchGoal::within(radius), params, exactness);
}

/// Of FAISS's classes each query by itself, as their radius is one.
void range_search_base(const ::faiss::Index& base, const SearchRequest& request,
                       const ::faiss::SearchParameters* params, RangeFound* found) {
  *found = {.lims = {0}};
  for (idx_t q = 0; q < request.nq; ++q) {
    ::faiss::RangeSearchResult one(1);
    base.range_search(1, request.queries + q * base.d, request.goal.radius_of(q), &one, params);
    found->scores.insert(found->scores.end(), one.distances, one.distances + one.lims[1]);
    found->ids.insert(found->ids.end(), one.labels, one.labels + one.lims[1]);
    found->lims.push_back(std::ssize(found->ids));
  }
}

}  // namespace

void PreTransformOverPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    require(index->ntotal == 0, StatusCode::state_mismatch,
            "train: the index holds {} rows, coded by what was trained before; reset it first",
            index->ntotal);
    require_training_rows("train", n, d, x);
    const bool training_is_optional = index->is_trained;
    IndexPreTransform::train(n, x);
    if (training_is_optional) {
      const float* transformed = apply_chain(n, x);
      const std::unique_ptr<const float[]> owned(transformed == x ? nullptr : transformed);
      index->train(n, transformed);
    }
    is_trained = index->is_trained;
  });
}

void PreTransformOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    require_rows("add", n, d, x);
    add_rows(*this, n, x, nullptr);
  });
}

void PreTransformOverPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    require_rows("add_with_ids", n, d, x);
    add_rows(*this, n, x, xids);
  });
}

size_t PreTransformOverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] { return remove_rows(*this, sel); });
}

void PreTransformOverPolar::search(idx_t n, const float* x, idx_t k, float* distances,
                                   idx_t* labels, const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] { require_rows("search", n, d, x); });
  const CallThreads call_threads(0);
  IndexPreTransform::search(n, x, k, distances, labels, params);
}

void PreTransformOverPolar::range_search(idx_t n, const float* x, float radius,
                                         ::faiss::RangeSearchResult* result,
                                         const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] { require_rows("range_search", n, d, x); });
  const CallThreads call_threads(0);
  IndexPreTransform::range_search(n, x, radius, result, params);
}

void PreTransformOverPolar::merge_from(::faiss::Index& other, idx_t add_id) {
  with_faiss_errors([&] { merge_rows(*this, other, add_id); });
}

void IDMapOverPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    require_rows("add_with_ids", n, d, x);
    add_rows(*this, n, x, xids);
  });
}

size_t IDMapOverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] { return remove_rows(*this, sel); });
}

void IDMapOverPolar::merge_from(::faiss::Index& other, idx_t add_id) {
  with_faiss_errors([&] { merge_rows(*this, other, add_id); });
}

void IDMap2OverPolar::add_with_ids(idx_t n, const float* x, const idx_t* xids) {
  with_faiss_errors([&] {
    require_rows("add_with_ids", n, d, x);
    add_rows(*this, n, x, xids);
  });
}

size_t IDMap2OverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] { return remove_rows(*this, sel); });
}

void IDMap2OverPolar::merge_from(::faiss::Index& other, idx_t add_id) {
  with_faiss_errors([&] { merge_rows(*this, other, add_id); });
}

void PreTransformOverPolar::sa_encode(idx_t n, const float* x, uint8_t* bytes) const {
  with_faiss_errors([&] { require_rows("sa_encode", n, d, x); });
  const CallThreads call_threads(0);
  IndexPreTransform::sa_encode(n, x, bytes);
}

void IDMapOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                            const ::faiss::SearchParameters* params) const {
  search_id_map(*this, {.nq = n, .queries = x, .goal = SearchGoal::best(k)}, {distances, labels},
                params);
}

void IDMapOverPolar::range_search(idx_t n, const float* x, float radius,
                                  ::faiss::RangeSearchResult* result,
                                  const ::faiss::SearchParameters* params) const {
  range_search_id_map(*this, n, x, radius, result, params);
}

void IDMap2OverPolar::range_search(idx_t n, const float* x, float radius,
                                   ::faiss::RangeSearchResult* result,
                                   const ::faiss::SearchParameters* params) const {
  range_search_id_map(*this, n, x, radius, result, params);
}

void IDMap2OverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                             const ::faiss::SearchParameters* params) const {
  search_id_map(*this, {.nq = n, .queries = x, .goal = SearchGoal::best(k)}, {distances, labels},
                params);
}

void IDMap2OverPolar::reconstruct(idx_t key, float* recons) const {
  with_faiss_errors([&] {
    const auto found = rev_map.find(key);
    require(found != rev_map.end(), StatusCode::not_found,
            "reconstruct: id {} is not in the index, which holds {} rows", key, ntotal);
    index->reconstruct(found->second, recons);
  });
}

void RefineOverPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] { require_training_rows("train", n, d, x); });
  const CallThreads call_threads(0);
  IndexRefine::train(n, x);
}

void RefineOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    require_rows("add", n, d, x);
    add_to_refinement(*this, n, x);
  });
}

size_t RefineOverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] { return remove_selected_positions(*this, sel); });
}

void RefineOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                             const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    const RefineParameters parameters =
        refine_parameters<::faiss::IndexRefineSearchParameters>(k_factor, params);
    require_rows("search", n, d, x);
    require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
    require(is_trained, StatusCode::not_trained,
            "search: the index is not trained; call train first");
    require(parameters.k_factor >= 1, StatusCode::bad_argument,
            "search: k_factor is {}; at least 1 is needed", parameters.k_factor);
    const SearchRequest request = {.nq = n,
                                   .queries = x,
                                   .goal = SearchGoal::best(k),
                                   .options = {.k_factor = parameters.k_factor}};
    refine_rows(*this, request, {distances, labels},
                [&](const SearchRequest& base_request, const SearchResult& found) {
                  base_index->search(n, x, base_request.goal.k, found.scores, found.ids,
                                     parameters.base);
                });
  });
}

void RefineOverPolar::range_search(idx_t n, const float* x, float radius,
                                   ::faiss::RangeSearchResult* result,
                                   const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require_range_result(n, result);
    require_rows("range_search", n, d, x);
    require(is_trained, StatusCode::not_trained,
            "range_search: the index is not trained; call train first");
    const CallThreads call_threads(0);
    const ::faiss::SearchParameters* base_params =
        refine_parameters<::faiss::IndexRefineSearchParameters>(k_factor, params).base;
    RangeFound found;
    refine_range(*this, request_of_base(*base_index, n, x, radius, base_params), &found,
                 [&](const SearchRequest& request, const SearchResult& candidates) {
                   if (request.goal.is_range)
                     return range_search_base(*base_index, request, base_params, candidates.found);
                   base_index->search(request.nq, request.queries, request.goal.k,
                                      candidates.scores, candidates.ids, base_params);
                 });
    write_range_result(found, result);
  });
}

// ---- Putting our indexes into what FAISS built --------------------------------------------------

namespace {

/// replace_leaves for a child that a container owns by plain pointer.
bool replace_in_child(::faiss::Index*& child, const LeafReplacement& replacement) {
  std::unique_ptr<::faiss::Index> owned(child);
  child = nullptr;  // if the replacement throws, the child is gone
  const bool replaced = replace_leaves(owned, replacement);
  child = owned.release();
  return replaced;
}

template <typename Map, typename MapOverPolar>
bool replace_in_id_map(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement) {
  auto* built = dynamic_cast<Map*>(index.get());
  if (built == nullptr || !replace_in_child(built->index, replacement)) return false;
  auto ours = std::make_unique<MapOverPolar>(built->index);
  ours->own_fields = true;
  built->own_fields = false;
  index = std::move(ours);
  return true;
}

bool replace_in_pre_transform(std::unique_ptr<::faiss::Index>& index,
                              const LeafReplacement& replacement) {
  auto* built = dynamic_cast<::faiss::IndexPreTransform*>(index.get());
  if (built == nullptr || !replace_in_child(built->index, replacement)) return false;
  for (::faiss::VectorTransform*& transform : built->chain) {
    std::unique_ptr<::faiss::VectorTransform> owned(std::exchange(transform, nullptr));
    transform = with_own_normalization(std::move(owned)).release();
  }
  auto ours = std::make_unique<PreTransformOverPolar>(built->index);
  for (auto transform = built->chain.rbegin(); transform != built->chain.rend(); ++transform) {
    ours->prepend_transform(*transform);
  }
  ours->own_fields = true;
  built->own_fields = false;
  index = std::move(ours);
  return true;
}

/// Makes the refinement of two indexes, which it then owns.
std::unique_ptr<::faiss::Index> refine(::faiss::IndexRefine& built, ::faiss::Index*& base) {
  auto ours = std::make_unique<RefineOverPolar>(base, built.refine_index);
  ours->k_factor = built.k_factor;
  ours->own_fields = ours->own_refine_index = true;
  base = built.refine_index = nullptr;
  return ours;
}

/// FAISS builds "IDMap,Polar2,RFlat" as a refinement of an id map, which can never add: id maps
/// refuse the add that refinements call. Here it becomes the id map of a refinement.
template <typename Map, typename MapOverPolar>
bool lift_id_map(std::unique_ptr<::faiss::Index>& index, ::faiss::IndexRefine& built) {
  auto* map = dynamic_cast<Map*>(built.base_index);
  if (map == nullptr) return false;
  std::unique_ptr<::faiss::Index> refinement = refine(built, map->index);
  auto ours = std::make_unique<MapOverPolar>(refinement.get());
  ours->own_fields = true;
  static_cast<void>(refinement.release());
  index = std::move(ours);
  return true;
}

bool replace_in_refine(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement) {
  auto* built = dynamic_cast<::faiss::IndexRefine*>(index.get());
  if (built == nullptr) return false;
  const bool base_replaced = replace_in_child(built->base_index, replacement);
  const bool refine_replaced = replace_in_child(built->refine_index, replacement);
  if (!base_replaced && !refine_replaced) return false;
  if (lift_id_map<::faiss::IndexIDMap2, IDMap2OverPolar>(index, *built) ||
      lift_id_map<::faiss::IndexIDMap, IDMapOverPolar>(index, *built)) {
    return true;
  }
  for (const ::faiss::Index* inner = built->base_index; inner != nullptr;) {
    require(dynamic_cast<const ::faiss::IndexIDMap*>(inner) == nullptr, StatusCode::unsupported,
            "description: an id map after transforms cannot be refined; put it in front: "
            "\"IDMap,PCA64,Polar2,RFlat\"");
    const auto* transforms = dynamic_cast<const ::faiss::IndexPreTransform*>(inner);
    inner = transforms != nullptr ? transforms->index : nullptr;
  }
  index = refine(*built, built->base_index);
  return true;
}

bool replace_in_coarse_quantizer(std::unique_ptr<::faiss::Index>& index,
                                 const LeafReplacement& replacement) {
  auto* built = dynamic_cast<::faiss::IndexIVF*>(index.get());
  if (built == nullptr || !replace_in_child(built->quantizer, replacement)) return false;
  built->quantizer_trains_alone = 2;  // k-means on floats, then the centroids are added to ours
  return true;
}

/// The rows of a graph to replace its storage; null where the storage stays.
std::unique_ptr<IndexPolar> rows_of_graph(::faiss::Index& storage,
                                          const LeafReplacement& replacement) {
  const std::unique_ptr<::faiss::Index> leaf = replacement(storage);
  const auto* polar = dynamic_cast<const IndexPolar*>(leaf.get());
  if (polar == nullptr) return nullptr;
  IndexPolar::Options options;
  options.single_rows = true;
  return std::make_unique<IndexPolar>(polar->d, polar->spec(), polar->metric_type, options);
}

// Graphs have no row yet, so that new ones with the same parameters are the same.
bool replace_in_hnsw(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement) {
  const auto* built = dynamic_cast<const ::faiss::IndexHNSW*>(index.get());
  if (built == nullptr) return false;
  std::unique_ptr<IndexPolar> rows = rows_of_graph(*built->storage, replacement);
  if (rows == nullptr) return false;
  index = std::make_unique<HNSWOverPolar>(std::move(rows), built->hnsw.nb_neighbors(1));
  return true;
}

bool replace_in_nsg(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement) {
  const auto* built = dynamic_cast<const ::faiss::IndexNSG*>(index.get());
  if (built == nullptr) return false;
  std::unique_ptr<IndexPolar> rows = rows_of_graph(*built->storage, replacement);
  if (rows == nullptr) return false;
  index = std::make_unique<NSGOverPolar>(std::move(rows), built->nsg.R);
  return true;
}

/// One row per container that can hold an index of ours. Each returns whether `index` was of its
/// kind and had a leaf replaced; IndexIDMap2 comes before its base class.
constexpr bool (*kContainers[])(std::unique_ptr<::faiss::Index>&, const LeafReplacement&) = {
    replace_in_pre_transform,
    replace_in_id_map<::faiss::IndexIDMap2, IDMap2OverPolar>,
    replace_in_id_map<::faiss::IndexIDMap, IDMapOverPolar>,
    replace_in_refine,
    replace_in_coarse_quantizer,
    replace_in_hnsw,
    replace_in_nsg,
};

}  // namespace

bool replace_leaves(std::unique_ptr<::faiss::Index>& index, const LeafReplacement& replacement) {
  auto ours = replacement(*index);
  const bool replaced = ours != nullptr;
  if (replaced) index = std::move(ours);
  const bool replaced_inside =
      std::any_of(std::begin(kContainers), std::end(kContainers),
                  [&](auto replace) { return replace(index, replacement); });
  return replaced || replaced_inside;
}

}  // namespace polarquant
