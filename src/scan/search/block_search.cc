// SPDX-License-Identifier: MIT
// Queries go in groups, in slices to threads, and tiles of rows past each slice. Threads take a
// slice's blocks as they come: one query so uses all threads, and who has no slice left helps with
// another's. Every thread keeps its own best rows of each query, merged at the end.
#include "src/scan/search/block_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/dense_search.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/shared_search.h"
#include "src/scan/search/shared_thresholds.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/tile_loader.h"
#include "src/scan/search/tile_search.h"
#include "src/scan/search/work_stealing.h"

namespace polarquant {
namespace {

/// Blocks that a thread takes at a time in a staged scan: about 10 µs of reading at the end, and
/// for few queries no more than it looks at in one go.
constexpr int64_t kSmallestRange = 64;
constexpr int64_t kMostClaimed = 256;
/// Smaller ones that a dense scan begins with, 1, 2, 4, 8: threads have the more to tell each other
/// the less they know.
constexpr unsigned kFirstTiles = 4;

class GroupSearch {
 public:
  GroupSearch(const Codec& codec, const ScanCodec& scan_codec, const TileLoader& loader,
              const SearchRequest& request, const SearchResult& result)
      : codec_(codec),
        scan_codec_(scan_codec),
        loader_(loader),
        request_(request),
        results_(request, codec.higher_is_nearer(), result),
        kept_(scan_codec.rescored_rows(results_.k())),
        threads_(thread_count(request.threads, std::max(loader.blocks(), request.nq))),
        machine_(ScanMachine::here()),
        workers_(static_cast<size_t>(threads_)),
        progress_(request.progress,
                  static_cast<double>(loader.blocks()) * static_cast<double>(request.nq)) {}

  void run() {
    const int64_t group = plan_for(request_.nq).group_queries;
    for (int64_t first = 0; first < request_.nq; first += group)
      run(first, std::min(group, request_.nq - first));
  }

 private:
  /// For so many queries of the search.
  ScanPlan plan_for(int64_t nq) const {
    return plan_scan(
        &scan_codec_, machine_,
        {nq, results_.k(), loader_.blocks() * kBlockRows, exactness(), threads_, loader_.packs()});
  }

  /// Queries first … first+nq−1, at most as many as a plan's group has.
  void run(int64_t first, int64_t nq) {
    plan_ = plan_for(nq);
    prepare(nq, request_.queries + first * codec_.dim());
    shared_ = plan_.kind == ScanKind::shared
                  ? std::make_unique<SharedQueries>(scan_codec_, queries_, threads_)
                  : nullptr;
    query_tiles_ = plan_.kind == ScanKind::dense
                       ? std::make_unique<QueryTiles>(scan_codec_, queries_, plan_.form, threads_)
                       : nullptr;
    const int64_t slices = plan_.slices;
    const int64_t slice_queries = plan_.slice_queries;
    best_.assign(static_cast<size_t>(threads_ * nq), results_.collector(kept_));
    limits_ = threads_ > 1 && !results_.is_range()
                  ? std::make_unique<SharedLimits>(threads_, nq, kept_)
                  : nullptr;
    for (auto& worker : workers_)
      if (worker != nullptr) worker->tiles = 0;
    std::deque<WorkStealingRanges> ranges;
    for (int64_t slice = 0; slice < slices; ++slice)
      ranges.emplace_back(loader_.blocks(), threads_);
    // A thread a slice first.
    const int64_t tasks = slices * threads_;
    parallel_for(tasks, threads_, [&](int64_t task, int thread) {
      const int64_t first_query = task % slices * slice_queries;
      const int64_t count = std::min(nq - first_query, slice_queries);
      if (count > 0) scan(first_query, count, thread, &ranges[static_cast<size_t>(task % slices)]);
    });
    // A lone query is given no limit that is only expected.
    for (const int64_t query : merge(first, nq)) run(first + query, 1);
  }

  struct Worker {
    unsigned tiles = 0;  // searched of this group
    SpareMemory<ScanTile> tile;
    AlignedVector<uint8_t> packed;
    std::unique_ptr<TileSearch> staged;
    std::unique_ptr<DenseSearch> dense;
    std::unique_ptr<SharedSearch> shared;
  };

  /// Queries of the group that one thread searches for.
  struct SliceOfQueries {
    int64_t first;
    int64_t count;
    TopK* best;  // (count)
    ThreadLimits limits;
  };

  void prepare(int64_t nq, const float* queries) {
    prepared_.resize(static_cast<size_t>(nq));
    queries_.resize(static_cast<size_t>(nq));
    for_some_queries(nq, threads_, [&](int64_t first, int64_t count) {
      std::vector<PreparedQuery> some =
          codec_.prepare_queries(count, queries + first * codec_.dim(), Codec::Coordinates::coded);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(first + i);
        prepared_[at] = std::move(some[static_cast<size_t>(i)]);
        queries_[at] = make_scan_query(scan_codec_, prepared_[at], plan_.bounded ? exactness() : 0);
        if (results_.is_range())
          queries_[at].error_bound =
              make_score_error_bound(scan_codec_, prepared_[at], queries_[at]);
      }
    });
  }

  Worker& worker_of(int thread) {
    auto& worker = workers_[static_cast<size_t>(thread)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    if (plan_.kind == ScanKind::dense && worker->dense == nullptr) {
      worker->dense = std::make_unique<DenseSearch>(scan_codec_, plan_.form, plan_.bounded);
    }
    if (plan_.kind == ScanKind::shared && worker->shared == nullptr) {
      worker->shared = std::make_unique<SharedSearch>(scan_codec_);
    }
    const bool by_tile = plan_.kind == ScanKind::staged || plan_.kind == ScanKind::exhaustive;
    // One made for a single query, searched again, has no room for the next group's.
    if (by_tile &&
        (worker->staged == nullptr || !worker->staged->has_room_for(std::ssize(queries_)))) {
      worker->staged = std::make_unique<TileSearch>(scan_codec_, std::ssize(queries_));
    }
    return *worker;
  }

  void scan(int64_t first_query, int64_t count, int thread, WorkStealingRanges* ranges) {
    const SliceOfQueries slice = {first_query,
                                  count,
                                  best_.data() + thread * std::ssize(queries_) + first_query,
                                  {limits_.get(), thread, first_query}};
    switch (plan_.kind) {
      case ScanKind::staged:
        return scan_staged(slice, &worker_of(thread), ranges);
      case ScanKind::shared:
        return scan_shared(slice, &worker_of(thread), ranges);
      case ScanKind::dense:
        return scan_dense(slice, &worker_of(thread), ranges);
      case ScanKind::exhaustive:
        return scan_every_row(slice, &worker_of(thread), ranges);
    }
  }

  static void exchange_limits(const SliceOfQueries& slice) {
    for (int64_t q = 0; q < slice.count; ++q) slice.limits.exchange(q, &slice.best[q]);
  }

  void load(const SliceOfQueries& slice, WorkStealingRanges::Range range, Worker* worker) {
    loader_.load(range.first, range.count, &worker->packed, worker->tile.get());
    progress_.advance(static_cast<double>(range.count) * static_cast<double>(slice.count));
  }

  void scan_dense(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    while (true) {
      const int64_t blocks = limits_ != nullptr && worker->tiles < kFirstTiles
                                 ? int64_t{1} << worker->tiles
                                 : plan_.tile_blocks;
      const WorkStealingRanges::Range range = ranges->take(slice.limits.thread, blocks, blocks);
      if (range.count == 0) return;
      worker->tile->blocks = 0;
      load(slice, range, worker);
      worker->dense->search(*worker->tile, *query_tiles_, slice.first, slice.first + slice.count,
                            slice.best - slice.first);
      // Less and less often: thresholds rise with the logarithm of the rows seen.
      if (++worker->tiles < kFirstTiles || std::has_single_bit(worker->tiles))
        exchange_limits(slice);
    }
  }

  // Some rows are gone through twice: their most promising ones set thresholds.
  void scan_shared(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const int64_t end = slice.first + slice.count;
    TopK* best = slice.best - slice.first;
    exchange_limits(slice);
    // A thread that comes later finds thresholds.
    if (!results_.is_range() && !std::isfinite(slice.best[0].worst_key())) {
      const int64_t seeds = plan_.seed_blocks;
      worker->tile->blocks = 0;
      loader_.load_spread(seeds, &worker->packed, worker->tile.get());
      const double share = static_cast<double>(seeds) / static_cast<double>(loader_.blocks());
      worker->shared->seed(*worker->tile, share, *shared_, slice.first, end, best);
      exchange_limits(slice);
    }
    WorkStealingRanges::Range range;
    while ((range = ranges->take(slice.limits.thread, plan_.tile_blocks, plan_.tile_blocks)).count >
           0) {
      worker->tile->blocks = 0;
      load(slice, range, worker);
      worker->shared->search(*worker->tile, *shared_, slice.first, end, best);
      if (std::has_single_bit(++worker->tiles)) exchange_limits(slice);
    }
  }

  void scan_every_row(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const ScanQuery* queries = queries_.data() + slice.first;
    WorkStealingRanges::Range range;
    while ((range = ranges->take(slice.limits.thread, plan_.tile_blocks, plan_.tile_blocks)).count >
           0) {
      worker->tile->blocks = 0;
      load(slice, range, worker);
      for (int64_t q = 0; q < slice.count; ++q)
        worker->staged->score_all(*worker->tile, queries[q], &slice.best[q]);
    }
  }

  void scan_staged(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const ScanQuery* queries = queries_.data() + slice.first;
    const int64_t capacity = plan_.tile_blocks;
    const int64_t least = std::min(capacity, kSmallestRange);
    if (slice.count > TileSearch::kMaxQueriesTogether) {
      for (WorkStealingRanges::Range range;
           (range = ranges->take(slice.limits.thread, least, capacity)).count > 0;) {
        worker->tile->blocks = 0;
        load(slice, range, worker);
        worker->staged->search(*worker->tile, queries, slice.count, slice.best, slice.limits);
      }
      return;
    }
    // What survives of one range waits while others are read.
    const int64_t most = threads_ > 1 ? std::min(capacity, kMostClaimed) : capacity;
    worker->tile->blocks = 0;
    worker->staged->begin(queries, static_cast<int>(slice.count));
    while (true) {
      const WorkStealingRanges::Range range = ranges->take(slice.limits.thread, least, most);
      // Packed blocks are where those before them were.
      const bool is_full = loader_.packs() ? worker->tile->blocks > 0
                                           : worker->tile->blocks + range.count > capacity;
      if (range.count == 0 || is_full) {
        worker->staged->search_waiting(*worker->tile, slice.best, slice.limits);
        worker->tile->blocks = 0;
      }
      if (range.count == 0) return;
      const int first_block = worker->tile->blocks;
      load(slice, range, worker);
      worker->staged->search_blocks(*worker->tile, first_block, slice.best, slice.limits);
    }
  }

  /// Returns the queries of which limits left rows out that are among the best.
  std::vector<int64_t> merge(int64_t first, int64_t nq) {
    std::vector<char> missed(static_cast<size_t>(nq), 0);
    results_.begin_group(nq);
    for_each_query(nq, threads_, [&](int64_t q) {
      std::vector<Neighbor> all = candidates_of(best_, threads_, nq, q);
      if (!results_.is_range()) {
        missed[static_cast<size_t>(q)] = !has_all_best(q, nq, all) ? 1 : 0;
        keep_best(all, kept_);
      }
      rescore(prepared_[static_cast<size_t>(q)], all);
      results_.write(first, q, all);
    });
    results_.end_group();
    std::vector<int64_t> queries;
    for (int64_t q = 0; q < nq; ++q)
      if (missed[static_cast<size_t>(q)] != 0) queries.push_back(q);
    return queries;
  }

  // Whether the best rows by limits are the best of all, which they are if there are enough.
  bool has_all_best(int64_t query, int64_t nq, const std::vector<Neighbor>& candidates) const {
    float limit = std::numeric_limits<float>::infinity();
    for (int64_t thread = 0; thread < threads_; ++thread)
      limit = std::min(limit, best_[static_cast<size_t>(thread * nq + query)].limit());
    return std::isinf(limit) ||
           std::count_if(candidates.begin(), candidates.end(),
                         [&](const Neighbor& neighbor) { return neighbor.key <= limit; }) >= kept_;
  }

  // By Codec::score: what is returned. Of more than k rows it chooses, too.
  void rescore(const PreparedQuery& query, std::vector<Neighbor>& candidates) const {
    std::vector<uint8_t> code(scan_codec_.layout().row_format_bytes());
    AlignedVector<float> decoded(static_cast<size_t>(codec_.dim()));
    for (const Neighbor& neighbor : candidates) loader_.fetch_row(neighbor.id);
    for (Neighbor& neighbor : candidates) {
      loader_.get_row(neighbor.id, code.data());
      const RowTerms terms = codec_.decode_for_score({code.data(), 1}, 0, decoded.data());
      const float score = codec_.score_decoded(query, terms, decoded.data());
      neighbor.score = key_of_score(score, codec_.higher_is_nearer());
      if (kept_ > results_.k()) neighbor.key = neighbor.score;
    }
  }

  float exactness() const { return request_.options.exactness; }

  const Codec& codec_;
  const ScanCodec& scan_codec_;
  const TileLoader& loader_;
  const SearchRequest& request_;
  ResultWriter results_;
  int64_t kept_;  // rows by values
  int threads_;
  ScanMachine machine_;
  ScanPlan plan_;  // of the group
  std::vector<std::unique_ptr<Worker>> workers_;
  SearchProgress progress_;
  std::vector<PreparedQuery> prepared_;
  std::vector<ScanQuery> queries_;
  std::unique_ptr<QueryTiles> query_tiles_;  // of a dense scan
  std::unique_ptr<SharedQueries> shared_;    // of a shared one
  std::unique_ptr<SharedLimits> limits_;     // of more than one thread, for the k best
  std::vector<TopK> best_;                   // (threads, queries of the group)
};

}  // namespace

void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  const SearchRequest& request, const SearchResult& result) {
  const TileLoader loader(scan_codec, spans, request.filter);
  GroupSearch(codec, scan_codec, loader, request, result).run();
}

void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes,
                  const SearchRequest& request, const SearchResult& result) {
  const TileLoader loader(scan_codec, codes, request.filter);
  GroupSearch(codec, scan_codec, loader, request, result).run();
}

}  // namespace polarquant
