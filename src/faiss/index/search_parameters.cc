// SPDX-License-Identifier: MIT
#include "src/faiss/index/search_parameters.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/FaissException.h>

#include <typeinfo>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/index/selector_filter.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant {

SearchRequest make_request(idx_t n, const float* x, const SearchGoal& goal,
                           const ::faiss::SearchParameters* params, float exactness) {
  SearchRequest request = {
      .nq = n, .queries = x, .goal = goal, .options = {.exactness = exactness}};
  if (params != nullptr) request.filter = filter_of_selector(params->sel);
  if (const auto* polar = dynamic_cast<const SearchParametersPolar*>(params)) {
    request.options.exactness = polar->exactness;
    request.progress = polar->progress;
  } else if (const auto* polar_ivf = dynamic_cast<const SearchParametersIVFPolar*>(params)) {
    request.options.exactness = polar_ivf->exactness;
    request.progress = polar_ivf->progress;
  }
  if (const auto* graph = dynamic_cast<const ::faiss::SearchParametersHNSW*>(params)) {
    require(graph->efSearch >= 1, StatusCode::bad_argument,
            "search: efSearch is {}; at least 1 is needed", graph->efSearch);
    request.options.ef_search = graph->efSearch;
  }
  return request;
}

TranslatedParameters::TranslatedParameters(const ::faiss::SearchParameters* params,
                                           const std::vector<idx_t>& id_map)
    : id_map_(id_map), translated_(translate(params)) {}

template <typename Parameters>
Parameters* TranslatedParameters::copy(const Parameters& params) {
  auto made = std::make_unique<Parameters>(params);
  if (made->sel != nullptr) {
    selectors_.push_back(
        std::make_unique<FilterSelector>(rows_of_ids(filter_of_selector(made->sel), id_map_)));
    made->sel = selectors_.back().get();
  }
  Parameters* result = made.get();
  copies_.push_back(std::move(made));
  return result;
}

::faiss::SearchParameters* TranslatedParameters::translate(
    const ::faiss::SearchParameters* params) {
  if (params == nullptr) return nullptr;
  if (typeid(*params) == typeid(::faiss::SearchParameters)) return copy(*params);
  if (typeid(*params) == typeid(SearchParametersPolar)) {
    return copy(static_cast<const SearchParametersPolar&>(*params));
  }
  if (typeid(*params) == typeid(::faiss::SearchParametersHNSW)) {
    return copy(static_cast<const ::faiss::SearchParametersHNSW&>(*params));
  }
  if (const auto* outer = dynamic_cast<const ::faiss::SearchParametersPreTransform*>(params)) {
    auto* made = copy(*outer);
    made->index_params = translate(outer->index_params);
    return made;
  }
  if (typeid(*params) == typeid(::faiss::SearchParametersIVF)) {
    return copy(static_cast<const ::faiss::SearchParametersIVF&>(*params));
  }
  if (typeid(*params) == typeid(SearchParametersIVFPolar)) {
    return copy(static_cast<const SearchParametersIVFPolar&>(*params));
  }
  // Template, so that the branch not taken need not compile.
  const auto refine = [&]<typename Parameters>(const Parameters*) -> ::faiss::SearchParameters* {
    if constexpr (Defined<Parameters>) {
      if (const auto* outer = dynamic_cast<const Parameters*>(params)) {
        auto* made = copy(*outer);
        made->base_index_params = translate(outer->base_index_params);
        return made;
      }
    }
    return nullptr;
  };
  if (auto* made = refine(static_cast<const SearchParametersRefine*>(nullptr))) return made;
  if (auto* made = refine(static_cast<const ::faiss::IndexRefineSearchParameters*>(nullptr))) {
    return made;
  }
  fail(StatusCode::unsupported,
       "params: {} cannot pass an id map; SearchParameters (a selector), also inside "
       "SearchParametersPreTransform, can",
       ::faiss::demangle_cpp_symbol(typeid(*params).name()));
}

}  // namespace polarquant
