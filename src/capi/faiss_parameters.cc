// SPDX-License-Identifier: MIT
#include "src/capi/faiss_parameters.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexRefine.h>

#include <utility>

#include "polarquant/faiss.h"
#include "src/capi/search_options.h"
#include "src/core/status.h"
#include "src/faiss/containers.h"
#include "src/faiss/index_parts.h"

namespace polarquant::capi {
namespace {

/// A refinement's parameters with those of the index that finds rows, which FAISS only points to.
template <typename Parameters>
struct RefineParameters final : Parameters {
  RefineParameters(double factor, std::unique_ptr<::faiss::SearchParameters> params)
      : base(std::move(params)) {
    this->k_factor = static_cast<float>(factor);
    this->base_index_params = base.get();
  }
  std::unique_ptr<::faiss::SearchParameters> base;
};

// Template, so that the branch not taken need not compile.
template <typename Parameters>
std::unique_ptr<::faiss::SearchParameters> make_faiss_refine_parameters(
    double factor, std::unique_ptr<::faiss::SearchParameters> base) {
  if constexpr (Defined<Parameters>) {
    return std::make_unique<RefineParameters<Parameters>>(factor, std::move(base));
  }
  fail(StatusCode::unsupported,
       "options.k_factor: {} is for refinements with one of our codes inside; the FAISS of this "
       "library takes none for its own",
       factor);
}

std::unique_ptr<::faiss::SearchParameters> make_finding_parameters(
    const ::faiss::Index& finding, const polar_search_options& options,
    ::faiss::IDSelector* selector) {
  const auto* ivf = dynamic_cast<const ::faiss::IndexIVF*>(&finding);
  const auto* hnsw = dynamic_cast<const ::faiss::IndexHNSW*>(&finding);
  require(options.nprobe == 0 || ivf != nullptr, StatusCode::unsupported,
          "options.nprobe: {} is for inverted files, which the index is not", options.nprobe);
  require(options.ef_search == 0 || hnsw != nullptr, StatusCode::unsupported,
          "options.ef_search: {} is for HNSW graphs, which the index is not", options.ef_search);
  if (dynamic_cast<const IndexPolar*>(&finding) != nullptr) {
    auto made = std::make_unique<SearchParametersPolar>();
    made->sel = selector;
    made->exactness = options.exactness;
    made->progress = make_scan_options(options, 0).progress;
    return made;
  }
  const bool is_ours = dynamic_cast<const IndexIVFPolar*>(&finding) != nullptr;
  if (ivf != nullptr && (is_ours || options.nprobe > 0)) {
    auto made = std::make_unique<SearchParametersIVFPolar>();
    made->sel = selector;
    made->nprobe = options.nprobe > 0 ? static_cast<size_t>(options.nprobe) : ivf->nprobe;
    made->max_codes = ivf->max_codes;
    made->exactness = options.exactness;
    made->progress = make_scan_options(options, 0).progress;
    return made;
  }
  if (hnsw != nullptr && options.ef_search > 0) {
    auto made = std::make_unique<::faiss::SearchParametersHNSW>();
    made->sel = selector;
    made->efSearch = static_cast<int>(options.ef_search);
    return made;
  }
  if (selector == nullptr) return nullptr;
  auto made = std::make_unique<::faiss::SearchParameters>();
  made->sel = selector;
  return made;
}

}  // namespace

std::unique_ptr<::faiss::SearchParameters> make_search_parameters(
    const ::faiss::Index& index, const polar_search_options& options,
    ::faiss::IDSelector* selector) {
  auto finding = make_finding_parameters(finding_index(index), options, selector);
  if (options.k_factor == 0) return finding;
  const ::faiss::IndexRefine* refinement = refinement_of(index);
  require(refinement != nullptr, StatusCode::unsupported,
          "options.k_factor: {} is for refinements, which the index is not", options.k_factor);
  if (dynamic_cast<const RefineOverPolar*>(refinement) != nullptr) {
    return std::make_unique<RefineParameters<SearchParametersRefine>>(options.k_factor,
                                                                      std::move(finding));
  }
  return make_faiss_refine_parameters<::faiss::IndexRefineSearchParameters>(options.k_factor,
                                                                            std::move(finding));
}

}  // namespace polarquant::capi
