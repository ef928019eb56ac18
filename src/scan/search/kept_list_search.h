// SPDX-License-Identifier: MIT
// Searches of an inverted file for the rows that a filter keeps. Where these are few, lists tell
// little: the lists nearest to a query have too few of them, and more lists take as long however
// few rows are read there. All rows that are kept are then scored in their place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/list_search.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

struct KeptRowsSearch {
  bool done = false;
  int64_t wanted_rows = 0;  // kept ones after which a query needs no further list
};
/// Lists of which the rows that are kept can be read; of a file whose own lists have ids alone.
using CopyKeptRows = std::function<std::unique_ptr<CodeLists>(const KeptListRows&)>;

/// Searches for the k best rows by Codec::score of all that the request's filter keeps, or of the
/// most promising part of these, ties to the lower list_offset, where that is fast, and is `done`.
/// Else it gives the request a filter that is asked faster, and an nprobe with which lists find as
/// much of what is kept as the request's own, 1 to all lists, finds of all rows. `copy_kept`: empty
/// where the file's lists have codes.
KeptRowsSearch search_kept_rows(const InvertedFile& file, int64_t rows, SearchRequest* request,
                                const SearchResult& result, const CopyKeptRows& copy_kept = {});

}  // namespace polarquant
