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
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/dense_search.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_goal.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/shared_search.h"
#include "src/scan/search/shared_thresholds.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/tile_loader.h"
#include "src/scan/search/tile_search.h"
#include "src/scan/search/work_stealing.h"

namespace polarquant {
namespace {

/// Fewer dimensions have bounds that leave no row out.
constexpr int kMinBoundedDims = 64;
/// Queries of a group, a thread, and the memory that they may take, prepared: 3.2 MiB at 384
/// dimensions. Dense and shared scans decode every row once a group: 1,000 queries of 1,536
/// dimensions take .77 to .80 of the time in one group that they take in four (50,000 rows).
constexpr int64_t kGroupQueries = 1024;
constexpr int64_t kGroupBytes = int64_t{16} << 20;
constexpr int64_t kMaxHeapEntries = int64_t{1} << 17;  // 2 MiB
/// With AMX a dense scan is the faster one for so many queries (of codes in two stages: so many),
/// where it multiplies so many lanes at the most; what a shared scan reads of most rows does not
/// grow with lanes.
constexpr int64_t kMinDenseQueries = 48;
constexpr int64_t kMinDenseQueriesByStages = 64;
constexpr int kMaxDenseLanes = 512;
/// With so many queries each threads go apart: decoding rows again costs less than two threads'
/// thresholds for the same queries, each of which has seen half of the rows. 1,000 queries over
/// 117,659 × 384 rows by two threads, shared sketches: .93 of the time.
constexpr int64_t kQueriesApart = 256;
/// Blocks, at even distances, whose most promising rows set a shared search's first thresholds.
/// 117,659 × 384 rows: with 64 of 1,839 a query selections 4,700 rows (5,500 by what is known
/// alone, not what is expected), and scores 70 into its best instead of 570; with 256 it selections
/// 4,200, but looking for them takes as long.
constexpr int64_t kSeedBlocks = 64;
/// Where every row is scored, a dense scan pays from the second query on: one over 117,659 × 384
/// rows by itself takes half its time row by row, two about the same.
constexpr int64_t kMinUnboundedDenseQueries = 2;
/// Blocks that are decoded, or packed, at a time.
constexpr int64_t kSmallTileBlocks = 16;
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
              SearchGoal& goal, const SearchOptions& options, int threads, SearchProgress& progress)
      : codec_(codec),
        scan_codec_(scan_codec),
        loader_(loader),
        goal_(goal),
        kept_(scan_codec.rescored_rows(goal.k())),
        exactness_(options.exactness),
        bounded_(search_is_bounded(scan_codec, options.exactness)),
        form_(dense_form(scan_codec, bounded_)),
        threads_(threads),
        workers_(static_cast<size_t>(threads)),
        progress_(progress) {}

  /// The goal's queries first … first+nq−1, (nq, dim).
  void run(int64_t first, int64_t nq, const float* queries) {
    prepare(nq, queries);
    const bool dense = bounded_ ? dense_beats_bounds(nq) : nq >= kMinUnboundedDenseQueries;
    const bool shared = bounded_ && !dense && nq >= min_shared_queries(scan_codec_);
    shared_ = shared ? std::make_unique<SharedQueries>(scan_codec_, queries_, threads_) : nullptr;
    query_tiles_ =
        dense ? std::make_unique<QueryTiles>(scan_codec_, queries_, form_, threads_) : nullptr;
    const int64_t slices = slices_for(nq, dense || shared);
    const int64_t slice_queries = div_up(div_up(nq, slices), kTileQueries) * kTileQueries;
    best_.assign(static_cast<size_t>(threads_ * nq), goal_.collector(kept_));
    limits_ = threads_ > 1 && !goal_.is_range()
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
    for (const int64_t query : merge(first, nq))
      run(first + query, 1, queries + query * codec_.dim());
  }

 private:
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

  bool dense_beats_bounds(int64_t nq) const {
    const bool by_stages = scan_codec_.stages().size() == 2;
    return query_tile_dots_use_amx() &&
           nq >= (by_stages ? kMinDenseQueriesByStages : kMinDenseQueries) &&
           dense_lanes(scan_codec_, form_) <= kMaxDenseLanes;
  }

  /// Slices of queries keep thresholds tight, which a staged scan lives by; dense and shared ones
  /// decode every row once a slice.
  int64_t slices_for(int64_t nq, bool decodes_once) const {
    const int64_t wanted = threads_ == 1 ? 1 : threads_ * kTasksPerThread;
    const int64_t most = std::max<int64_t>(nq / kQueriesPerTask, 1);
    if (!decodes_once) return std::min(most, wanted);
    const int64_t tiles = std::max<int64_t>(div_up(loader_.blocks(), kSmallTileBlocks), 1);
    const int64_t apart = std::min<int64_t>(threads_, nq / kQueriesApart);
    return std::min(most, std::max(div_up(wanted, tiles), apart));
  }

  void prepare(int64_t nq, const float* queries) {
    prepared_.resize(static_cast<size_t>(nq));
    queries_.resize(static_cast<size_t>(nq));
    for_some_queries(nq, threads_, [&](int64_t first, int64_t count) {
      std::vector<PreparedQuery> some =
          codec_.prepare_queries(count, queries + first * codec_.dim(), Codec::Coordinates::coded);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(first + i);
        prepared_[at] = std::move(some[static_cast<size_t>(i)]);
        queries_[at] = make_scan_query(scan_codec_, prepared_[at], bounded_ ? exactness_ : 0);
        if (goal_.is_range())
          queries_[at].error_bound =
              make_score_error_bound(scan_codec_, prepared_[at], queries_[at]);
      }
    });
  }

  Worker& worker_of(int thread) {
    auto& worker = workers_[static_cast<size_t>(thread)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    if (query_tiles_ != nullptr && worker->dense == nullptr) {
      worker->dense = std::make_unique<DenseSearch>(scan_codec_, form_, bounded_);
    }
    if (shared_ != nullptr && worker->shared == nullptr) {
      worker->shared = std::make_unique<SharedSearch>(scan_codec_);
    }
    if (query_tiles_ == nullptr && shared_ == nullptr && worker->staged == nullptr) {
      worker->staged = std::make_unique<TileSearch>(scan_codec_, std::ssize(queries_));
    }
    return *worker;
  }

  void scan(int64_t first_query, int64_t count, int thread, WorkStealingRanges* ranges) {
    const SliceOfQueries slice = {first_query,
                                  count,
                                  best_.data() + thread * std::ssize(queries_) + first_query,
                                  {limits_.get(), thread, first_query}};
    if (shared_ != nullptr) {
      scan_shared(slice, &worker_of(thread), ranges);
    } else if (query_tiles_ != nullptr) {
      scan_dense(slice, &worker_of(thread), ranges);
    } else if (!bounded_) {
      scan_every_row(slice, &worker_of(thread), ranges);
    } else {
      scan_staged(slice, &worker_of(thread), ranges);
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
                                 : kSmallTileBlocks;
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
    if (!goal_.is_range() && !std::isfinite(slice.best[0].worst_key())) {
      const int64_t seeds =
          std::min(loader_.packs() ? kSmallTileBlocks : kSeedBlocks, loader_.blocks());
      worker->tile->blocks = 0;
      loader_.load_spread(seeds, &worker->packed, worker->tile.get());
      const double share = static_cast<double>(seeds) / static_cast<double>(loader_.blocks());
      worker->shared->seed(*worker->tile, share, *shared_, slice.first, end, best);
      exchange_limits(slice);
    }
    WorkStealingRanges::Range range;
    while ((range = ranges->take(slice.limits.thread, kSmallTileBlocks, kSmallTileBlocks)).count >
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
    while ((range = ranges->take(slice.limits.thread, kSmallTileBlocks, kSmallTileBlocks)).count >
           0) {
      worker->tile->blocks = 0;
      load(slice, range, worker);
      for (int64_t q = 0; q < slice.count; ++q)
        worker->staged->score_all(*worker->tile, queries[q], &slice.best[q]);
    }
  }

  void scan_staged(const SliceOfQueries& slice, Worker* worker, WorkStealingRanges* ranges) {
    const ScanQuery* queries = queries_.data() + slice.first;
    const int64_t capacity = loader_.packs() ? kSmallTileBlocks : kTileBlocks;
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
    goal_.begin_group(nq);
    for_each_query(nq, threads_, [&](int64_t q) {
      std::vector<Neighbor> all = candidates_of(best_, threads_, nq, q);
      if (!goal_.is_range()) {
        missed[static_cast<size_t>(q)] = !has_all_best(q, nq, all) ? 1 : 0;
        keep_best(all, kept_);
      }
      rescore(prepared_[static_cast<size_t>(q)], all);
      goal_.write(first, q, all);
    });
    goal_.end_group();
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
      if (kept_ > goal_.k()) neighbor.key = neighbor.score;
    }
  }

  const Codec& codec_;
  const ScanCodec& scan_codec_;
  const TileLoader& loader_;
  SearchGoal& goal_;
  int64_t kept_;  // rows by values
  float exactness_;
  bool bounded_;
  DenseForm form_;  // of dense scans
  int threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SearchProgress& progress_;
  std::vector<PreparedQuery> prepared_;
  std::vector<ScanQuery> queries_;
  std::unique_ptr<QueryTiles> query_tiles_;  // of a dense scan
  std::unique_ptr<SharedQueries> shared_;    // of a shared one
  std::unique_ptr<SharedLimits> limits_;     // of more than one thread, for the k best
  std::vector<TopK> best_;                   // (threads, queries of the group)
};

void search_tiles(const Codec& codec, const ScanCodec& scan_codec, const TileLoader& loader,
                  int64_t nq, const float* queries, SearchGoal goal, const SearchOptions& options) {
  require(options.exactness >= 0, StatusCode::bad_argument,
          "exactness: {}; 0 to infinity are allowed", options.exactness);
  const int64_t rows = loader.blocks() * kBlockRows;
  const int threads = thread_count(options.threads, std::max(loader.blocks(), nq));
  const int64_t query_bytes = scan_codec.padded_dim() * 7 + 512;
  const int64_t heap_entries =
      std::max<int64_t>(1, std::min(scan_codec.rescored_rows(goal.k()), rows));
  const int64_t of_thread = std::min(kGroupQueries, kGroupBytes / query_bytes);
  const int64_t group =
      std::max<int64_t>(1, std::min(of_thread * threads, kMaxHeapEntries / heap_entries));
  SearchProgress progress(options.progress,
                          static_cast<double>(loader.blocks()) * static_cast<double>(nq));
  GroupSearch search(codec, scan_codec, loader, goal, options, threads, progress);
  const int64_t even_group = nq > 0 ? div_up(nq, div_up(nq, group)) : 1;
  for (int64_t first = 0; first < nq; first += even_group) {
    search.run(first, std::min(even_group, nq - first), queries + first * codec.dim());
  }
}

}  // namespace

bool search_is_bounded(const ScanCodec& codec, float exactness) {
  return codec.has_signs() && codec.dim() >= kMinBoundedDims && exactness < kScoreEveryRow;
}

void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids) {
  const TileLoader loader(scan_codec, spans, filter);
  search_tiles(codec, scan_codec, loader, nq, queries,
               SearchGoal::best(nq, k, codec.higher_is_nearer(), scores, ids), options);
}

void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                  const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids) {
  const TileLoader loader(scan_codec, codes, filter);
  search_tiles(codec, scan_codec, loader, nq, queries,
               SearchGoal::best(nq, k, codec.higher_is_nearer(), scores, ids), options);
}

void block_range_search(const Codec& codec, const ScanCodec& scan_codec,
                        std::span<const BlockRows> spans, int64_t nq, const float* queries,
                        float radius, const RowFilter& filter, const SearchOptions& options,
                        RangeFound* found) {
  const TileLoader loader(scan_codec, spans, filter);
  search_tiles(codec, scan_codec, loader, nq, queries,
               SearchGoal::within(nq, radius, codec.higher_is_nearer(), found), options);
}

void block_range_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                        const float* queries, float radius, const RowFilter& filter,
                        const SearchOptions& options, RangeFound* found) {
  const TileLoader loader(scan_codec, codes, filter);
  search_tiles(codec, scan_codec, loader, nq, queries,
               SearchGoal::within(nq, radius, codec.higher_is_nearer(), found), options);
}

}  // namespace polarquant
