// SPDX-License-Identifier: MIT
#include "src/capi/faiss_parameters.h"

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>

#include "polarquant/faiss.h"
#include "src/capi/search_options.h"
#include "src/core/status.h"
#include "src/faiss/index_parts.h"

namespace polarquant::capi {

std::unique_ptr<::faiss::SearchParameters> make_search_parameters(
    const ::faiss::Index& index, const polar_search_options& options,
    ::faiss::IDSelector* selector) {
  const ::faiss::Index& finding = finding_index(index);
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

}  // namespace polarquant::capi
