// SPDX-License-Identifier: MIT
// Queries go in groups, tiles of rows past each group; the work is a grid of tile ranges × query
// slices, so that one query uses all threads, and so do many queries over few rows. Every thread
// keeps its own best rows of each query, merged at the end.
#include "src/scan/block_search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "src/codec/dot.h"
#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/scan/dense_search.h"
#include "src/scan/kernels/panel_dots.h"
#include "src/scan/query_tasks.h"
#include "src/scan/scan_query.h"
#include "src/scan/search_progress.h"
#include "src/scan/shared_limits.h"
#include "src/scan/tile_loader.h"
#include "src/scan/tile_search.h"

namespace polarquant {
namespace {

/// Fewer dimensions have bounds that leave no row out.
constexpr int kMinBoundedDims = 64;
/// Prepared queries of a group, a thread: a dense scan decodes every row once a group.
constexpr size_t kGroupBytes = size_t{3} << 20;
constexpr int64_t kMaxHeapEntries = int64_t{1} << 17;  // 2 MiB
/// With AMX a dense scan is the faster one for so many queries over vectors of so many lanes; what
/// a staged scan reads does not grow with them. 1,000 queries: 2 times as fast at 768 dimensions
/// (100,000 rows), .6 times at 1,536 (50,000 rows).
constexpr int64_t kMinDenseQueries = 16;
constexpr int kMaxDenseLanes = 1024;
/// Its ranges of rows cost nothing, and the last one keeps the other threads waiting.
constexpr int64_t kDenseTasksPerThread = 16;
/// Blocks that are decoded, or packed, at a time. What threads are given are multiples of it.
constexpr int64_t kSmallTileBlocks = 16;
/// Smaller ones that a dense scan begins with, 1, 2, 4, 8: threads have the more to tell each other
/// the less they know.
constexpr unsigned kFirstTiles = 4;

class GroupSearch {
 public:
  GroupSearch(const Codec& codec, const ScanCodec& scan_codec, const TileLoader& loader, int64_t k,
              const SearchOptions& options, int threads, SearchProgress& progress)
      : codec_(codec),
        scan_codec_(scan_codec),
        loader_(loader),
        k_(k),
        exactness_(options.exactness),
        bounded_(scan_codec.has_signs() && codec.dim() >= kMinBoundedDims &&
                 options.exactness < kScoreEveryRow),
        threads_(threads),
        workers_(static_cast<size_t>(threads)),
        progress_(progress) {}

  void run(int64_t nq, const float* queries, float* scores, int64_t* ids) {
    prepare(nq, queries);
    const bool dense = !bounded_ || (panel_dots_use_amx() && nq >= kMinDenseQueries &&
                                     scan_codec_.lanes() <= kMaxDenseLanes);
    panels_ = dense ? std::make_unique<QueryPanels>(scan_codec_, queries_, threads_) : nullptr;
    const int64_t steps = div_up(loader_.blocks(), kSmallTileBlocks);
    // Slices of queries keep thresholds tight, which a staged scan lives by; a dense scan decodes
    // every row once a slice, and takes ranges of rows.
    const int64_t tasks_wanted =
        threads_ == 1 ? 1 : threads_ * (dense ? kDenseTasksPerThread : kTasksPerThread);
    const int64_t most_ranges = std::max<int64_t>(steps, 1);
    const int64_t most_slices = std::max<int64_t>(nq / kQueriesPerTask, 1);
    int64_t ranges = 1;
    int64_t slices = 1;
    if (dense) {
      ranges = std::min(tasks_wanted, most_ranges);
      slices = std::min(div_up(tasks_wanted, ranges), most_slices);
    } else {
      slices = std::min(tasks_wanted, most_slices);
      ranges = div_up(tasks_wanted, slices);
      // Every range begins without a threshold: few queries over few tiles get one a thread.
      if (slices == 1 && threads_ > 1)
        ranges = std::clamp<int64_t>(div_up(loader_.blocks(), kTileBlocks), threads_, ranges);
      ranges = std::min(ranges, most_ranges);
    }
    const int64_t slice_queries = div_up(div_up(nq, slices), kPanelQueries) * kPanelQueries;
    const int64_t range_blocks = div_up(steps, ranges) * kSmallTileBlocks;
    best_.assign(static_cast<size_t>(threads_ * nq), TopK(k_));
    for (auto& worker : workers_)
      if (worker != nullptr) worker->tiles = 0;
    limits_ =
        ranges > 1 && threads_ > 1 ? std::make_unique<SharedLimits>(threads_, nq, k_) : nullptr;
    parallel_for(
        ranges * slices, thread_count(threads_, ranges * slices), [&](int64_t task, int thread) {
          const int64_t first_query = task % slices * slice_queries;
          const int64_t count = std::min(nq - first_query, slice_queries);
          const int64_t first_block = task / slices * range_blocks;
          const int64_t end_block = std::min(loader_.blocks(), first_block + range_blocks);
          if (count > 0 && first_block < end_block) {
            scan(first_block, end_block, first_query, count, thread, best_.data() + thread * nq);
          }
        });
    merge(nq, scores, ids);
  }

 private:
  struct Worker {
    unsigned tiles = 0;  // searched of this group
    ScanTile tile;
    AlignedVector<uint8_t> packed;
    std::unique_ptr<TileSearch> staged;
    std::unique_ptr<DenseSearch> dense;
  };

  void prepare(int64_t nq, const float* queries) {
    prepared_.resize(static_cast<size_t>(nq));
    queries_.resize(static_cast<size_t>(nq));
    for_each_query(nq, threads_, [&](int64_t q) {
      const auto at = static_cast<size_t>(q);
      prepared_[at] = codec_.prepare_query(queries + q * codec_.dim());
      queries_[at] = make_scan_query(scan_codec_, prepared_[at], bounded_ ? exactness_ : 0);
    });
  }

  /// Blocks of a tile, when a thread has searched so many tiles.
  int64_t tile_blocks(unsigned tiles) const {
    if (panels_ != nullptr && limits_ != nullptr && tiles < kFirstTiles) return int64_t{1} << tiles;
    return panels_ != nullptr || loader_.packs() ? kSmallTileBlocks : kTileBlocks;
  }

  void scan(int64_t first_block, int64_t end_block, int64_t first_query, int64_t count, int thread,
            TopK* best) {
    auto& worker = workers_[static_cast<size_t>(thread)];
    if (worker == nullptr) worker = std::make_unique_for_overwrite<Worker>();
    if (panels_ != nullptr && worker->dense == nullptr) {
      worker->dense = std::make_unique<DenseSearch>(scan_codec_, bounded_);
    }
    if (panels_ == nullptr && worker->staged == nullptr) {
      worker->staged = std::make_unique<TileSearch>(scan_codec_, std::ssize(queries_));
    }
    const ThreadLimits limits = {limits_.get(), thread, first_query};
    for (int64_t block = first_block; block < end_block;) {
      const int64_t blocks = std::min(tile_blocks(worker->tiles), end_block - block);
      loader_.load(block, blocks, &worker->packed, &worker->tile);
      progress_.advance(static_cast<double>(blocks) * static_cast<double>(count));
      if (panels_ != nullptr) {
        worker->dense->search(worker->tile, *panels_, first_query, first_query + count, best);
        // Less and less often: thresholds rise with the logarithm of the rows seen.
        if (++worker->tiles < kFirstTiles || std::has_single_bit(worker->tiles))
          for (int64_t q = 0; q < count; ++q) limits.exchange(q, &best[first_query + q]);
      } else {
        worker->staged->search(worker->tile, queries_.data() + first_query, count,
                               best + first_query, limits);
      }
      block += blocks;
    }
  }

  void merge(int64_t nq, float* scores, int64_t* ids) {
    for_each_query(nq, threads_, [&](int64_t q) {
      std::vector<Candidate> all = candidates_of(best_, threads_, nq, q);
      keep_best(all, k_);
      rescore(prepared_[static_cast<size_t>(q)], all);
      write_top_k(all, k_, codec_.higher_is_nearer(), scores + q * k_, ids + q * k_);
    });
  }

  // What is returned is what Codec::score says of a row.
  void rescore(const PreparedQuery& query, std::vector<Candidate>& candidates) const {
    std::vector<uint8_t> code(scan_codec_.layout().row_format_bytes());
    AlignedVector<float> decoded(static_cast<size_t>(codec_.dim()));
    for (Candidate& candidate : candidates) {
      loader_.get_row(candidate.id, code.data());
      const RowTerms terms = codec_.decode_for_score({code.data(), 1}, 0, decoded.data());
      const float score =
          score_of(query, terms, dot_float(query.rotated.data(), decoded.data(), codec_.dim()));
      candidate.score = key_of_score(score, codec_.higher_is_nearer());
    }
  }

  const Codec& codec_;
  const ScanCodec& scan_codec_;
  const TileLoader& loader_;
  int64_t k_;
  float exactness_;
  bool bounded_;
  int threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SearchProgress& progress_;
  std::vector<PreparedQuery> prepared_;
  std::vector<ScanQuery> queries_;
  std::unique_ptr<QueryPanels> panels_;
  std::unique_ptr<SharedLimits> limits_;  // of more than one thread
  std::vector<TopK> best_;                // (threads, queries of the group)
};

void search_tiles(const Codec& codec, const ScanCodec& scan_codec, const TileLoader& loader,
                  int64_t nq, const float* queries, int64_t k, const SearchOptions& options,
                  float* scores, int64_t* ids) {
  require(nq >= 0, StatusCode::bad_argument, "nq: {} queries; at least 0 are needed", nq);
  require(k >= 1, StatusCode::bad_argument, "k: {}; at least 1 is needed", k);
  require(options.exactness >= 0, StatusCode::bad_argument,
          "exactness: {}; 0 to infinity are allowed", options.exactness);
  checked_mul(checked_mul(nq, k, "nq x k results"), sizeof(int64_t), "nq x k results");
  const int64_t rows = loader.blocks() * kBlockRows;
  const int threads = thread_count(options.threads, std::max(loader.blocks(), nq));
  const int64_t query_bytes = scan_codec.lanes() * (scan_codec.wide() ? 9 : 7) + 512;
  const int64_t heap_entries = std::max<int64_t>(1, std::min(k, rows));
  const int64_t group =
      std::max<int64_t>(1, std::min(static_cast<int64_t>(kGroupBytes) / query_bytes * threads,
                                    kMaxHeapEntries / heap_entries));
  SearchProgress progress(options.progress,
                          static_cast<double>(loader.blocks()) * static_cast<double>(nq));
  GroupSearch search(codec, scan_codec, loader, k, options, threads, progress);
  const int64_t even_group = nq > 0 ? div_up(nq, div_up(nq, group)) : 1;
  for (int64_t first = 0; first < nq; first += even_group) {
    search.run(std::min(even_group, nq - first), queries + first * codec.dim(), scores + first * k,
               ids + first * k);
  }
}

}  // namespace

void block_search(const Codec& codec, const ScanCodec& scan_codec, std::span<const BlockRows> spans,
                  int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids) {
  const TileLoader loader(scan_codec, spans, filter);
  search_tiles(codec, scan_codec, loader, nq, queries, k, options, scores, ids);
}

void block_search(const Codec& codec, const ScanCodec& scan_codec, CodeRows codes, int64_t nq,
                  const float* queries, int64_t k, const RowFilter& filter,
                  const SearchOptions& options, float* scores, int64_t* ids) {
  const TileLoader loader(scan_codec, codes, filter);
  search_tiles(codec, scan_codec, loader, nq, queries, k, options, scores, ids);
}

}  // namespace polarquant
