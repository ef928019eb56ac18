// SPDX-License-Identifier: MIT
// Searches of any index with options, those of FAISS's own classes too.
//
// FAISS's classes differ, by release as well, in which search parameters they take, heed, ignore or
// refuse. Here an index is walked part by part: transforms, id maps and refinements are done here,
// and what finds the rows at the end is given what it surely heeds; what it does not is done here
// or refused, naming the option.
#pragma once

#include <faiss/Index.h>

#include <functional>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_request.h"

namespace faiss {
struct RangeSearchResult;
}  // namespace faiss

namespace polarquant {

/// 0 and null: not asked for, the index's own counts.
struct IndexSearchOptions {
  const ::faiss::IDSelector* selector = nullptr;  // over the ids that are returned; borrowed
  float exactness = kDefaultExactness;
  int64_t nprobe = 0;
  int64_t ef_search = 0;
  double k_factor = 0;
  std::function<bool(double done)> progress;  // as SearchRequest::progress
};

/// Throws unsupported, naming the option, for one that the index has no use for.
void require_use_for(const ::faiss::Index& index, const IndexSearchOptions& options);

/// As faiss::Index::search, of an index that holds rows. Throws unsupported, naming the option, for
/// one that the index has no use for or cannot do.
void search_index(const ::faiss::Index& index, idx_t n, const float* x, idx_t k,
                  const IndexSearchOptions& options, float* distances, idx_t* labels);

/// As faiss::Index::range_search.
void range_search_index(const ::faiss::Index& index, idx_t n, const float* x, float radius,
                        const IndexSearchOptions& options, ::faiss::RangeSearchResult* result);

}  // namespace polarquant
