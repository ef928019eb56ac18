// SPDX-License-Identifier: MIT
// Rows are decoded a tile at a time. Few queries are scored against floats that stay in the L1
// cache; for many, bytes first say which rows can be among the best (rounded_rows.h): about ten
// times as fast for 1000 queries on AVX-512. The work is a grid of row ranges × query slices, so
// that one query uses all threads, and so do many queries over few rows.
#include "src/scan/search/exhaustive_search.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/rounded_rows.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// Decoded rows of a tile: half of a 32 KiB L1 cache, the smallest in use.
constexpr size_t kTileBytes = 16 * 1024;
constexpr int64_t kMaxTileRows = 64;

/// Decoded rows side by side, each on a cache line boundary.
class Tile {
 public:
  explicit Tile(int dim)
      : stride_((static_cast<size_t>(dim) + 15) / 16 * 16),
        capacity_(std::clamp<int64_t>(static_cast<int64_t>(kTileBytes / (stride_ * sizeof(float))),
                                      1, kMaxTileRows)),
        values_(stride_ * static_cast<size_t>(capacity_)),
        terms_(static_cast<size_t>(capacity_)),
        ids_(static_cast<size_t>(capacity_)) {}

  bool full() const { return size_ == capacity_; }
  void clear() { size_ = 0; }
  void push(const Codec& codec, CodeRows codes, int64_t row) {
    const auto slot = static_cast<size_t>(size_++);
    terms_[slot] = codec.decode_for_score(codes, row, values_.data() + slot * stride_);
    ids_[slot] = row;
  }
  void score(const Codec& codec, const PreparedQuery& query, TopK& best) const {
    for (size_t slot = 0; slot < static_cast<size_t>(size_); ++slot) {
      const float* y = values_.data() + slot * stride_;
      const float score = codec.score_decoded(query, terms_[slot], y);
      best.push({key_of_score(score, codec.higher_is_nearer()), ids_[slot]});
    }
  }

 private:
  size_t stride_;
  int64_t capacity_;
  int64_t size_ = 0;
  AlignedVector<float> values_;
  std::vector<RowTerms> terms_;
  std::vector<int64_t> ids_;
};

/// One group of queries against every row.
class GroupSearch {
 public:
  // As many threads as there can be tasks: a row and a query each.
  GroupSearch(const Codec& codec, CodeRows codes, const SearchRequest& request,
              const SearchResult& result)
      : codec_(codec),
        codes_(codes),
        request_(request),
        results_(request, codec.higher_is_nearer(), result),
        threads_(thread_count(request.threads, std::max(codes.rows, request.nq))),
        progress_(request.progress, static_cast<double>(div_up(codes.rows, kExhaustiveTaskRows)) *
                                        static_cast<double>(request.nq)) {}

  void run() {
    const int64_t group = plan_for(request_.nq).group_queries;
    for (int64_t first = 0; first < request_.nq; first += group)
      run(first, std::min(group, request_.nq - first));
  }

 private:
  /// For so many queries of the search.
  ScanPlan plan_for(int64_t nq) const {
    return plan_scan(nullptr, {}, {nq, results_.k(), codes_.rows, 0, threads_, true});
  }

  /// Queries first … first+nq−1.
  void run(int64_t first, int64_t nq) {
    prepare(nq, request_.queries + first * codec_.dim());
    const ScanPlan plan = plan_for(nq);
    const int64_t ranges = div_up(codes_.rows, kExhaustiveTaskRows);
    const int64_t slices = plan.slices;
    const int64_t slice_queries = plan.slice_queries;
    rounded_ = plan.rounded
                   ? std::make_unique<RoundedQueries>(std::span<const PreparedQuery>(queries_),
                                                      codec_.dim(), codec_.higher_is_nearer())
                   : nullptr;
    best_.assign(static_cast<size_t>(threads_ * nq), results_.collector(results_.k()));
    parallel_for(ranges * slices, thread_count(threads_, ranges * slices),
                 [&](int64_t task, int thread) {
                   const int64_t first_query = task % slices * slice_queries;
                   const int64_t end_query = std::min(nq, first_query + slice_queries);
                   if (first_query >= end_query) return;
                   progress_.advance(static_cast<double>(end_query - first_query));
                   TopK* best = best_.data() + thread * nq;
                   if (rounded_ != nullptr) {
                     scan_rounded(task / slices, first_query, end_query, best);
                   } else {
                     scan(task / slices, first_query, end_query, best);
                   }
                 });
    merge(first, nq);
  }

  void prepare(int64_t nq, const float* queries) {
    queries_.resize(static_cast<size_t>(nq));
    for_each_query(nq, threads_, [&](int64_t q) {
      queries_[static_cast<size_t>(q)] = codec_.prepare_query(queries + q * codec_.dim());
    });
  }

  /// body(row) for the rows of a range that the filter lets through.
  template <typename Body>
  void for_each_row(int64_t range, const Body& body) const {
    const int64_t end_row = std::min(codes_.rows, (range + 1) * kExhaustiveTaskRows);
    uint64_t allowed = 0;
    for (int64_t row = range * kExhaustiveTaskRows; row < end_row; ++row) {
      if (row % 64 == 0)
        allowed =
            request_.filter.allowed(row, static_cast<int>(std::min<int64_t>(64, end_row - row)));
      if ((allowed >> (row % 64) & 1) != 0) body(row);
    }
  }

  void scan(int64_t range, int64_t first_query, int64_t end_query, TopK* best) const {
    Tile tile(codec_.dim());
    const auto score_tile = [&] {
      for (int64_t q = first_query; q < end_query; ++q) {
        tile.score(codec_, queries_[static_cast<size_t>(q)], best[q]);
      }
      tile.clear();
    };
    for_each_row(range, [&](int64_t row) {
      tile.push(codec_, codes_, row);
      if (tile.full()) score_tile();
    });
    score_tile();
  }

  void scan_rounded(int64_t range, int64_t first_query, int64_t end_query, TopK* best) const {
    RoundedRows rows(codec_);
    const auto score_rows = [&] {
      rows.score(*rounded_, first_query, end_query, best);
      rows.clear();
    };
    for_each_row(range, [&](int64_t row) {
      rows.push(codes_, row);
      if (rows.full()) score_rows();
    });
    if (!rows.empty()) score_rows();
  }

  void merge(int64_t first, int64_t nq) {
    results_.begin_group(nq);
    for_each_query(nq, threads_, [&](int64_t q) {
      std::vector<Neighbor> all = candidates_of(best_, threads_, nq, q);
      results_.write(first, q, all);
    });
    results_.end_group();
  }

  const Codec& codec_;
  CodeRows codes_;
  const SearchRequest& request_;
  ResultWriter results_;
  int threads_;
  SearchProgress progress_;
  std::vector<PreparedQuery> queries_;
  std::unique_ptr<RoundedQueries> rounded_;  // for many queries
  std::vector<TopK> best_;                   // (threads, queries of the group)
};

}  // namespace

void exhaustive_search(const Codec& codec, CodeRows codes, const SearchRequest& request,
                       const SearchResult& result) {
  GroupSearch(codec, codes, request, result).run();
}

}  // namespace polarquant
