// SPDX-License-Identifier: MIT
#include "src/scan/search/list_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/tile_loader.h"

namespace polarquant {
namespace {

/// How many lists ahead the beginning of a list is fetched: the sketches of its first rows, after
/// which the processor's own prefetching follows.
constexpr size_t kFetchAheadLists = 3;
constexpr int64_t kFetchedRows = 256;

}  // namespace

ListScan::ListScan(const InvertedFile& file, const ListPlan& plan, const SearchRequest& request)
    : file_(file),
      filter_(filter_of_list_offsets(file.lists, request.filter)),
      kept_(dynamic_cast<const KeptListRows*>(filter_.rule())),
      plan_(plan),
      request_(request),
      scorer_(file) {
  if (file.scan_codec == nullptr) return;
  staged_ = std::make_unique<TileSearch>(*file.scan_codec, 1);
  every_ = std::make_unique<EveryRowSearch>(*file.scan_codec, plan_.bounded, false);
}

void ListScan::search(const PreparedQuery* queries, std::span<const int32_t> numbers, int64_t list,
                      TopK* best, const ThreadLimits& limits) {
  if (file_.lists.rows(list) == 0) return;
  best_.clear();
  for (const int32_t query : numbers) best_.push_back(std::move(best[query]));
  if (file_.lists.has_blocks()) {
    scan_queries_.resize(std::max(scan_queries_.size(), numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i) {
      set_query(queries[numbers[i]], list, &scan_queries_[i]);
    }
    search_blocks(list, std::ssize(numbers), limits);
  } else {
    search_row_codes(queries, numbers, list);
  }
  for (size_t i = 0; i < numbers.size(); ++i) best[numbers[i]] = std::move(best_[i]);
}

void ListScan::set_query(const PreparedQuery& query, int64_t list, ScanQuery* scan) {
  const PreparedQuery& residual = scorer_.residual(query, list);
  set_scan_query(*file_.scan_codec, residual, plan_.bounded ? request_.options.exactness : 0, scan);
  scan->error_bound = request_.goal.is_range
                          ? make_score_error_bound(*file_.scan_codec, residual, *scan)
                          : ScoreErrorBound{};
}

void ListScan::search(const PreparedQuery* queries, int32_t query, std::span<const int64_t> lists,
                      TopK* best, const ThreadLimits& limits) {
  while (!lists.empty()) {
    if (scores_all(lists[0])) {
      if (lists.size() > kFetchAheadLists) fetch_kept(lists[kFetchAheadLists]);
      score_all(queries[query], lists[0], &best[query]);
      lists = lists.subspan(1);
      continue;
    }
    const size_t count = lists_together(lists, best[query]);
    if (count > 0) {
      search_together(queries[query], lists, count, &best[query]);
      limits.exchange(0, &best[query]);
      lists = lists.subspan(count);
    } else {
      if (lists.size() > 1) fetch(lists[1]);
      search(queries, {&query, 1}, lists[0], best, limits);
      lists = lists.subspan(1);
    }
  }
}

// To spans_, by list offsets; returns how many blocks they have.
int64_t ListScan::append_spans(int64_t list) {
  const size_t begin = spans_.size();
  file_.lists.append_spans(list, &spans_);
  int64_t blocks = 0;
  for (size_t i = begin; i < spans_.size(); ++i) {
    spans_[i].first_row = list_offset(list, spans_[i].first_row);
    blocks += (spans_[i].rows + kBlockRows - 1) / kBlockRows;
  }
  return blocks;
}

// Calls body for each tile of the list's rows, once it is loaded.
template <typename Body>
void ListScan::for_each_tile(int64_t list, const Body& body) {
  spans_.clear();
  append_spans(list);
  const TileLoader loader(*file_.scan_codec, spans_, filter_);
  for (int64_t first = 0; first < loader.blocks(); first += kTileBlocks) {
    tile_->blocks = 0;
    loader.load(first, std::min<int64_t>(kTileBlocks, loader.blocks() - first), nullptr,
                tile_.get());
    body();
  }
}

bool ListScan::scores_all(int64_t list) const {
  return kept_ != nullptr && !request_.goal.is_range && file_.lists.has_blocks() &&
         file_.lists.span_count(list) == 1 && scores_all_of_list(kept_->count(list));
}

void ListScan::score_all(const PreparedQuery& query, int64_t list, TopK* best) {
  ScanQuery& scan = (*list_queries_)[0];
  set_query(query, list, &scan);
  for_each_tile(list, [&] { every_->search_few(*tile_, scan, best); });
}

// How many of the first lists are searched together; 0: the first one is searched alone.
size_t ListScan::lists_together(std::span<const int64_t> lists, const TopK& best) const {
  // Without a threshold the candidates of one list are scored first: they give the others one.
  if (!file_.lists.has_blocks() || !plan_.bounded || !std::isfinite(best.worst_key())) return 0;
  size_t count = 0;
  int64_t blocks = 0;
  while (count < std::min<size_t>(lists.size(), TileSearch::kMaxLists) &&
         !scores_all(lists[count])) {
    // Each span may end within a block.
    blocks += file_.lists.rows(lists[count]) / kBlockRows +
              static_cast<int64_t>(file_.lists.span_count(lists[count]));
    if (blocks > TileSearch::kMaxListBlocks) break;
    ++count;
  }
  return count;
}

// Searches the first `count` lists, and fetches those after.
void ListScan::search_together(const PreparedQuery& query, std::span<const int64_t> lists,
                               size_t count, TopK* best) {
  spans_.clear();
  std::array<int64_t, TileSearch::kMaxLists> blocks;
  for (size_t i = 0; i < count; ++i) {
    if (i + kFetchAheadLists < lists.size()) fetch(lists[i + kFetchAheadLists]);
    set_query(query, lists[i], &(*list_queries_)[i]);
    blocks[i] = append_spans(lists[i]);
  }
  const TileLoader loader(*file_.scan_codec, spans_, filter_);
  std::array<TileList, TileSearch::kMaxLists> parts;
  tile_->blocks = 0;
  int64_t block = 0;
  for (size_t i = 0; i < count; ++i) {
    loader.load(block, blocks[i], nullptr, tile_.get());
    block += blocks[i];
    parts[i] = {&(*list_queries_)[i], tile_->blocks};
  }
  staged_->search_lists(*tile_, {parts.data(), count}, best);
}

void ListScan::fetch_centre(int64_t list) const {
  if (file_.centres.empty()) return;
  polarquant::fetch(
      reinterpret_cast<const uint8_t*>(file_.centres[static_cast<size_t>(list)].rotated),
      static_cast<size_t>(file_.codec.dim()) * sizeof(float));
}

// Fetches what a search of the list begins with.
void ListScan::fetch(int64_t list) const {
  fetch_centre(list);
  if (!file_.lists.has_blocks() || file_.lists.rows(list) == 0) return;
  const BlockRows rows = file_.lists.span(list, 0);
  polarquant::fetch(rows.data,
                    file_.lists.layout().sketches_bytes(std::min(rows.rows, kFetchedRows)));
}

// Fetches what scores of the list's kept rows read.
void ListScan::fetch_kept(int64_t list) const {
  if (!scores_all(list)) {
    fetch(list);
    return;
  }
  fetch_centre(list);
  const BlockLayout& layout = file_.lists.layout();
  const BlockRows rows = file_.lists.span(list, 0);
  kept_->for_each(list, [&](int64_t row) {
    const RowPlace at = rows.place(layout, row_of_offset(row));
    __builtin_prefetch(layout.row_factors(at));
    fetch_code(layout, at, layout.payload_bytes());
  });
}

void ListScan::search_blocks(int64_t list, int64_t count, const ThreadLimits& limits) {
  std::unique_ptr<QueryTiles> query_tiles;
  const ScanKind kind = plan_.kind(count);
  if (kind == ScanKind::dense) {
    const std::span<const ScanQuery> queries = {scan_queries_.data(), static_cast<size_t>(count)};
    const ScanCodec& codec = *file_.scan_codec;
    if (dense_ == nullptr) dense_ = std::make_unique<DenseSearch>(codec, plan_.form, plan_.bounded);
    query_tiles = std::make_unique<QueryTiles>(codec, queries, dense_->form(), 1);
  }
  for_each_tile(list, [&] { search_tile(kind, count, query_tiles.get(), limits); });
}

void ListScan::search_tile(ScanKind kind, int64_t count, const QueryTiles* query_tiles,
                           const ThreadLimits& limits) {
  if (kind == ScanKind::dense) {
    dense_->search(*tile_, *query_tiles, 0, count, best_.data());
  } else if (kind == ScanKind::staged) {
    staged_->search(*tile_, scan_queries_.data(), count, best_.data(), limits);
  } else {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i)
      every_->search_few(*tile_, scan_queries_[i], &best_[i]);
  }
}

// Decodes a row once for all queries.
void ListScan::search_row_codes(const PreparedQuery* queries, std::span<const int32_t> numbers,
                                int64_t list) {
  const Codec& codec = file_.codec;
  const int64_t rows = file_.lists.rows(list);
  const CodeRows codes = {file_.lists.row_codes(list), rows};
  residual_.resize(std::max(residual_.size(), numbers.size()));
  decoded_.resize(static_cast<size_t>(codec.dim()));
  std::vector<const PreparedQuery*> residuals;
  for (size_t i = 0; i < numbers.size(); ++i)
    residuals.push_back(&scorer_.residual(queries[numbers[i]], list, &residual_[i]));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = list_offset(list, row);
    if (!filter_.keeps(at)) continue;
    const RowTerms terms = codec.decode_for_score(codes, row, decoded_.data());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float score = codec.score_decoded(*residuals[i], terms, decoded_.data());
      best_[i].push({key_of_score(score, codec.higher_is_nearer()), at});
    }
  }
}

}  // namespace polarquant
