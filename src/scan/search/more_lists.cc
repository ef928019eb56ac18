// SPDX-License-Identifier: MIT
#include "src/scan/search/more_lists.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace polarquant {
namespace {

/// The lists of a search as a multiple of those of the one before: all searches before the last
/// cost a third of it.
constexpr int64_t kMoreLists = 4;

std::vector<int64_t> unfilled_queries(const SearchRequest& request, const SearchResult& result) {
  const int64_t k = request.goal.k;
  std::vector<int64_t> unfilled;
  for (int64_t q = 0; q < request.nq; ++q)
    if (result.ids[q * k + k - 1] < 0) unfilled.push_back(q);
  return unfilled;
}

}  // namespace

void search_until_filled(const SearchRequest& request, int dim, int64_t nlist,
                         const SearchResult& result, const SearchLists& search) {
  search(request, result);
  if (request.goal.is_range || request.filter.keeps_all()) return;
  const int64_t k = request.goal.k;
  SearchRequest remaining = request;
  // The work was told as done.
  if (request.progress) remaining.progress = [&request](double) { return request.progress(1); };
  while (remaining.options.nprobe < nlist) {
    const std::vector<int64_t> unfilled = unfilled_queries(request, result);
    if (unfilled.empty()) return;
    std::vector<float> queries;
    for (const int64_t q : unfilled)
      queries.insert(queries.end(), request.queries + q * dim, request.queries + (q + 1) * dim);
    remaining.nq = std::ssize(unfilled);
    remaining.queries = queries.data();
    remaining.options.nprobe = std::min(kMoreLists * remaining.options.nprobe, nlist);
    std::vector<float> scores(unfilled.size() * static_cast<size_t>(k));
    std::vector<int64_t> ids(scores.size());
    search(remaining, {scores.data(), ids.data()});
    for (int64_t i = 0; i < remaining.nq; ++i) {
      const int64_t q = unfilled[static_cast<size_t>(i)];
      std::copy_n(scores.begin() + i * k, k, result.scores + q * k);
      std::copy_n(ids.begin() + i * k, k, result.ids + q * k);
    }
  }
}

}  // namespace polarquant
