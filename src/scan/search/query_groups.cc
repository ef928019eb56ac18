// SPDX-License-Identifier: MIT
#include "src/scan/search/query_groups.h"

#include <utility>

namespace polarquant {

QueryGroups::QueryGroups(const Codec& codec, const SearchRequest& request,
                         const SearchResult& result, int threads, double work)
    : codec_(codec),
      request_(request),
      threads_(threads),
      progress_(request.progress, work),
      results_(request, codec.higher_is_nearer(), result) {}

void QueryGroups::run(int64_t group_queries) {
  for (int64_t first = 0; first < request_.nq; first += group_queries)
    run_group(first, std::min(group_queries, request_.nq - first));
}

void QueryGroups::run_group(int64_t first, int64_t nq) {
  first_query_ = first;
  nq_ = nq;
  prepared_.resize(static_cast<size_t>(nq));
  search_group();
  results_.begin_group(nq);
  for_some_queries(nq, threads_, [&](int64_t begin, int64_t count, int thread) {
    for (int64_t q = begin; q < begin + count; ++q) {
      std::vector<Neighbor> found;
      for (size_t at = static_cast<size_t>(q); at < best_.size(); at += static_cast<size_t>(nq)) {
        const std::vector<Neighbor>& part = best_[at].neighbors();
        found.insert(found.end(), part.begin(), part.end());
      }
      finish(q, thread, &found);
      results_.write(first, q, found);
    }
  });
  results_.end_group();
}

void QueryGroups::prepare_queries() {
  for_some_queries(nq_, threads_,
                   [&](int64_t first, int64_t count, int) { prepare(first, count); });
}

void QueryGroups::prepare(int64_t first, int64_t count) {
  std::vector<PreparedQuery> some = codec_.prepare_queries(count, query(first));
  std::move(some.begin(), some.end(), prepared_.begin() + first);
}

void QueryGroups::begin_parts(int64_t parts, int64_t kept) {
  results_.set_kept(kept);
  best_.assign(static_cast<size_t>(parts * nq_), results_.collector(first_query_, kept));
  if (!results_.collectors_differ()) return;
  for (int64_t at = 0; at < parts * nq_; ++at)
    best_[static_cast<size_t>(at)] = results_.collector(first_query_ + at % nq_, kept);
}

}  // namespace polarquant
