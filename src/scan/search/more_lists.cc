// SPDX-License-Identifier: MIT
#include "src/scan/search/more_lists.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace polarquant {
namespace {

/// The lists of a search as a multiple of those of the one before: all searches before the last
/// cost a third of it.
constexpr int64_t kMoreLists = 4;

}  // namespace

void search_until_filled(const SearchRequest& request, int dim, int64_t nlist,
                         const SearchResult& result, const SearchLists& search) {
  search(request, result);
  if (request.goal.is_range || request.filter.keeps_all()) return;
  const int64_t k = request.goal.k;
  SearchRequest remaining = request;
  // The work was told as done.
  if (request.progress) remaining.progress = [&request](double) { return request.progress(1); };
  std::vector<int64_t> searched(static_cast<size_t>(request.nq));
  std::iota(searched.begin(), searched.end(), int64_t{0});
  while (remaining.options.nprobe < nlist) {
    std::vector<int64_t> unfilled;
    for (const int64_t q : searched)
      if (result.ids[q * k + k - 1] < 0) unfilled.push_back(q);
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
    searched = std::move(unfilled);
  }
}

}  // namespace polarquant
