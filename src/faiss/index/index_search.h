// SPDX-License-Identifier: MIT
// Searches of any index with options, those of FAISS's own classes too.
//
// FAISS's classes differ, by release as well, in which search parameters they take, heed, ignore or
// refuse. Here an index is walked part by part: transforms, id maps and refinements are done here,
// and the index that finds the rows at the end gets the options that it surely heeds; the others
// are done here or refused, naming the option.
#pragma once

#include <faiss/Index.h>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Throws unsupported, naming the option, for one that the index has no use for.
void require_use_for(const ::faiss::Index& index, const SearchOptions& options);

/// Searches an index that holds rows; the filter is over the ids that are returned, and options of
/// 0 are the index's own counts. Throws unsupported, naming the option, for one that the index has
/// no use for or cannot do.
void search_index(const ::faiss::Index& index, const SearchRequest& request,
                  const SearchResult& result);

}  // namespace polarquant
