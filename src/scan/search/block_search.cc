// SPDX-License-Identifier: MIT
// Queries go in groups, groups in slices to threads, and each slice reads the rows in tiles.
// Threads take a slice's blocks as they come, so that a single query uses all threads; a thread
// without a slice left helps with another's. Every thread keeps its own best rows of each query,
// merged at the end.
#include "src/scan/search/block_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "src/scan/model/scan_query.h"
#include "src/scan/search/centroid_bases.h"
#include "src/scan/search/dense_search.h"
#include "src/scan/search/every_row_search.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_groups.h"
#include "src/scan/search/shared_search.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/thread_limits.h"
#include "src/scan/search/tile_loader.h"
#include "src/scan/search/tile_search.h"
#include "src/scan/search/work_stealing.h"

namespace polarquant {
namespace {

/// Blocks that a thread takes at a time in a staged scan: short work at the end, and for few
/// queries no more than it takes in one go.
constexpr int64_t kSmallestRange = 64;
constexpr int64_t kMostTaken = 256;
/// Smaller tiles that a dense scan begins with, 1, 2, 4, 8: the less threads know, the more they
/// have to tell each other.
constexpr unsigned kFirstTiles = 4;

class BlockSearch final : public QueryGroups {
 public:
  BlockSearch(const Codec& codec, const ScanCodec& scan_codec, const TileLoader& loader,
              const SearchRequest& request, const SearchResult& result)
      : QueryGroups(codec, request, result,
                    thread_count(request.threads, std::max(loader.blocks(), request.nq)),
                    static_cast<double>(loader.blocks()) * static_cast<double>(request.nq)),
        scan_codec_(scan_codec),
        loader_(loader),
        kept_(scan_codec.rescored_rows(k())),
        machine_(ScanMachine::here()),
        workers_(static_cast<size_t>(threads_)) {}

  void run() { QueryGroups::run(plan_for(request_.nq).group_queries); }

 private:
  struct Worker {
    unsigned tiles = 0;  // searched for this group
    SpareMemory<ScanTile> tile;
    AlignedVector<uint8_t> packed;
    std::unique_ptr<TileSearch> staged;
    std::unique_ptr<EveryRowSearch> every;
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

  /// For so many queries of the search.
  ScanPlan plan_for(int64_t nq) const {
    return plan_scan(
        &scan_codec_, machine_,
        {nq, k(), loader_.blocks() * kBlockRows, exactness(), threads_, loader_.packs()});
  }

  void search_group() override {
    plan_ = plan_for(nq_);
    queries_.resize(static_cast<size_t>(nq_));
    prepare_queries();
    shared_ = plan_.kind == ScanKind::shared
                  ? std::make_unique<SharedQueries>(scan_codec_, queries_, threads_)
                  : nullptr;
    query_tiles_ = plan_.kind == ScanKind::dense
                       ? std::make_unique<QueryTiles>(scan_codec_, queries_, plan_.form, threads_)
                       : nullptr;
    begin_parts(threads_, kept_);
    limits_ = threads_ > 1 && !is_range() ? std::make_unique<CommonLimits>(threads_, nq_, kept_)
                                          : nullptr;
    for (auto& worker : workers_)
      if (worker != nullptr) worker->tiles = 0;
    std::deque<WorkStealingRanges> ranges;
    for (int64_t slice = 0; slice < plan_.slices; ++slice)
      ranges.emplace_back(loader_.blocks(), threads_);
    for_each_task(plan_, threads_,
                  [&](int64_t slice, int64_t first, int64_t count, int64_t, int thread) {
                    scan(first, count, thread, &ranges[static_cast<size_t>(slice)]);
                  });
  }

  void prepare(int64_t first, int64_t count) override {
    std::vector<PreparedQuery> some =
        codec_.prepare_queries(count, query(first), Codec::Coordinates::coded);
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(first + i);
      PreparedQuery& query = prepared_[at];
      query = std::move(some[static_cast<size_t>(i)]);
      queries_[at] = make_scan_query(scan_codec_, query, plan_.bounded ? exactness() : 0);
      if (is_range())
        queries_[at].error_bound = make_score_error_bound(scan_codec_, query, queries_[at]);
    }
    const auto at = static_cast<size_t>(first);
    set_centroid_bases(codec_, scan_codec_, count, query(first), &prepared_[at], &queries_[at]);
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
    if (plan_.kind == ScanKind::exhaustive && worker->every == nullptr) {
      worker->every =
          std::make_unique<EveryRowSearch>(scan_codec_, plan_.bounded, plan_.by_windows);
    }
    // Only the last group may have fewer queries than the first.
    if (plan_.kind == ScanKind::staged && worker->staged == nullptr)
      worker->staged = std::make_unique<TileSearch>(scan_codec_, std::ssize(queries_));
    return *worker;
  }

  void scan(int64_t first_query, int64_t count, int thread, WorkStealingRanges* ranges) {
    const SliceOfQueries slice = {
        first_query, count, best(thread) + first_query, {limits_.get(), thread, first_query}};
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

  // Some rows are read twice: their most promising ones set thresholds.
  void scan_shared(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const int64_t end = slice.first + slice.count;
    TopK* best = slice.best - slice.first;
    exchange_limits(slice);
    // A thread that comes later finds thresholds.
    if (!is_range() && !std::isfinite(slice.best[0].worst_key())) {
      const int64_t seeds = plan_.seed_blocks;
      worker->tile->blocks = 0;
      loader_.load_spread(seeds, &worker->packed, worker->tile.get());
      worker->shared->seed(*worker->tile, *shared_, slice.first, end, best);
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

  /// Of a staged or an exhaustive scan.
  WorkStealingRanges::Range take_range(const SliceOfQueries& slice,
                                       WorkStealingRanges* ranges) const {
    const int64_t capacity = plan_.tile_blocks;
    const int64_t most = threads_ > 1 ? std::min(capacity, kMostTaken) : capacity;
    return ranges->take(slice.limits.thread, std::min(capacity, kSmallestRange), most);
  }

  void scan_every_row(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    worker->every->begin(queries_.data() + slice.first, slice.count);
    WorkStealingRanges::Range range;
    while ((range = take_range(slice, ranges)).count > 0) {
      worker->tile->blocks = 0;
      load(slice, range, worker);
      worker->every->search_tile(*worker->tile, slice.best, slice.limits);
    }
  }

  void scan_staged(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const ScanQuery* queries = queries_.data() + slice.first;
    const int64_t capacity = plan_.tile_blocks;
    if (slice.count > TileSearch::kMaxQueriesTogether) {
      for (WorkStealingRanges::Range range;
           (range = ranges->take(slice.limits.thread, std::min(capacity, kSmallestRange), capacity))
               .count > 0;) {
        worker->tile->blocks = 0;
        load(slice, range, worker);
        worker->staged->search(*worker->tile, queries, slice.count, slice.best, slice.limits);
      }
      return;
    }
    // Candidates of one range wait while others are read.
    worker->tile->blocks = 0;
    worker->staged->begin(queries, static_cast<int>(slice.count));
    while (true) {
      const WorkStealingRanges::Range range = take_range(slice, ranges);
      // Packed blocks lie where the ones before them did.
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

  // What is returned is what Codec::score says. Of more than k rows it chooses, too.
  void finish(int64_t query, int /*thread*/, std::vector<Neighbor>* found) override {
    if (!is_range()) keep_best(*found, kept_);
    std::vector<uint8_t> code(scan_codec_.layout().row_format_bytes());
    AlignedVector<float> decoded(static_cast<size_t>(codec_.dim()));
    for (const Neighbor& neighbor : *found) loader_.fetch_row(neighbor.id);
    for (Neighbor& neighbor : *found) {
      loader_.get_row(neighbor.id, code.data());
      const RowTerms terms = codec_.decode_for_score({code.data(), 1}, 0, decoded.data());
      const float score =
          codec_.score_decoded(prepared_[static_cast<size_t>(query)], terms, decoded.data());
      neighbor.score = key_of_score(score, codec_.higher_is_nearer());
      if (chooses_by_score(kept_)) neighbor.key = neighbor.score;
    }
  }

  const ScanCodec& scan_codec_;
  const TileLoader& loader_;
  int64_t kept_;  // rows by values
  ScanMachine machine_;
  ScanPlan plan_;  // the group's
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<ScanQuery> queries_;
  std::unique_ptr<QueryTiles> query_tiles_;  // of a dense scan
  std::unique_ptr<SharedQueries> shared_;    // of a shared one
  std::unique_ptr<CommonLimits> limits_;     // of more than one thread, for the k best
};

}  // namespace

void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  const SearchRequest& request, const SearchResult& result) {
  const TileLoader loader(scan_codec, spans, request.filter);
  BlockSearch(codec, scan_codec, loader, request, result).run();
}

void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes,
                  const SearchRequest& request, const SearchResult& result) {
  const TileLoader loader(scan_codec, codes, request.filter);
  BlockSearch(codec, scan_codec, loader, request, result).run();
}

}  // namespace polarquant
