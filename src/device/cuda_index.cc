// SPDX-License-Identifier: MIT
#include "src/device/cuda_index.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "src/device/cuda_query_description.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/kept_list_search.h"
#include "src/scan/search/more_lists.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/codec_copy.h"

namespace polarquant::device {
namespace {

/// Queries that are prepared before a device gets them.
constexpr int64_t kQueriesAtOnce = 4096;
/// Results of shards that wait to be merged, 16 bytes each, unless one query has more.
constexpr int64_t kResultsAtOnce = int64_t{1} << 22;
/// A prepared filter's rows are copied where they are no more than one of so many.
constexpr int64_t kCopiedEvery = 8;

/// What a prepared filter has on devices, or null where they lack memory: without it a search needs
/// less.
template <typename Make>
std::shared_ptr<const RowCopiesElsewhere> unless_out_of_memory(const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.code() != StatusCode::out_of_memory) throw;
    return nullptr;
  }
}

}  // namespace

CudaIndex::CudaIndex(const Codec& codec, std::span<const BlockRows> spans,
                     std::span<const int64_t> ids, const CudaPlaces& list_offsets)
    : ids_(ids.begin(), ids.end()), devices_(list_offsets.devices.size()) {
  require_cuda_devices(list_offsets);
  codec_ = copy_of(codec);
  scan_codec_ = std::make_unique<ScanCodec>(*codec_);
  for (const BlockRows& span : spans) row_numbers_ += span.rows;
  const auto devices = static_cast<int64_t>(devices_);
  copy_rows(spans,
            list_offsets.replicated ? std::vector<PartRange>(devices_, {0, row_numbers_})
                                    : split_evenly(row_numbers_, devices, kBlockRows),
            nullptr, list_offsets);
}

CudaIndex::CudaIndex(const ListsSource& source, const CudaPlaces& list_offsets)
    : devices_(list_offsets.devices.size()) {
  require_cuda_devices(list_offsets);
  codec_ = copy_of(source.file.codec);
  scan_codec_ = std::make_unique<ScanCodec>(*codec_);
  lists_ = std::make_unique<CudaLists>(source);
  list_ids_ = std::make_unique<ListsOfIds>(*codec_, *lists_);
  row_numbers_ = lists_->row_numbers();
  const ListsForDevices lists(source);
  copy_rows(lists.spans(),
            list_offsets.replicated ? std::vector<PartRange>(devices_, {0, row_numbers_})
                                    : lists_->split(static_cast<int64_t>(devices_)),
            &lists, list_offsets);
}

void CudaIndex::copy_rows(std::span<const BlockRows> spans, std::span<const PartRange> ranges,
                          const ListsForDevices* lists, const CudaPlaces& list_offsets) {
  const DeviceCode code(*codec_, *scan_codec_);
  const bool prepares = prepares_queries(*codec_);
  cuda::QueryDescription queries = {};
  if (prepares) queries = describe_queries(*codec_, *scan_codec_);
  sharded_ = !list_offsets.replicated && ranges.size() > 1;
  parts_.resize(ranges.size());
  threads_.run_together(ranges.size(), [&](size_t i) {
    std::vector<int64_t> list_rows;
    cuda::ListsDescription list_description = {};
    if (lists != nullptr) {
      list_rows = lists_->rows_in(ranges[i]);
      list_description = lists->with_rows(list_rows);
    }
    const RowsDescription described = {code.description(),
                                       lists != nullptr ? &list_description : nullptr,
                                       prepares ? &queries : nullptr};
    parts_[i] = std::make_shared<const CudaRows>(scan_codec_->layout(), described, spans, ranges[i],
                                                 list_offsets.devices[i]);
  });
}

size_t CudaIndex::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& part : parts_) bytes += part->memory_bytes();
  return bytes;
}

RowFilter CudaIndex::allowed_rows(const RowFilter& filter) const {
  return filter.found(rows_state_, [&] {
    return kept_rows(ids_.empty() ? filter : rows_of_ids(filter, ids_), row_numbers_);
  });
}

std::shared_ptr<const RowCopiesElsewhere> CudaIndex::copies_of(const RowFilter& filter,
                                                               const KeptRows& kept) const {
  if (!filter.is_prepared()) return nullptr;
  const bool are_few = kept.count() <= row_numbers_ / kCopiedEvery;
  return unless_out_of_memory([&] {
    return kept.copies_elsewhere().get(1, 0, [&] {
      return std::make_unique<CudaKeptRows>(parts_, DeviceCode(*codec_, *scan_codec_).description(),
                                            kept, are_few, &threads_);
    });
  });
}

std::shared_ptr<const RowCopiesElsewhere> CudaIndex::kept_lists_of(const RowFilter& filter,
                                                                   const RowFilter& asked) const {
  const auto* kept = dynamic_cast<const KeptListRows*>(asked.rule());
  if (kept == nullptr || !filter.is_prepared()) return nullptr;
  return unless_out_of_memory([&] {
    return kept->copies_elsewhere().get(
        1, 0, [&] { return std::make_unique<CudaKeptLists>(*lists_, *kept, parts_, &threads_); });
  });
}

DeviceQueries CudaIndex::prepare(const SearchRequest& wanted, int64_t first,
                                 const Request& request) const {
  if (request.arrays->queries.queries != nullptr) {
    cuda::ResidentQueries there = request.arrays->queries;
    there.queries += first * dim();
    return DeviceQueries(*scan_codec_, there);
  }
  const float* queries = wanted.queries + first * dim();
  DeviceQueries device_queries = lists_ != nullptr
                                     ? DeviceQueries(*scan_codec_, request.nq, queries)
                                     : DeviceQueries(*scan_codec_, request.nq);
  for_each_query(request.nq, request.threads, [&](int64_t q) {
    const PreparedQuery prepared = codec_->prepare_query(queries + q * dim());
    device_queries.put(q, prepared);
    if (lists_ == nullptr)
      device_queries.put_values(q, make_scan_query(*scan_codec_, prepared, request.exactness));
  });
  return device_queries;
}

int64_t CudaIndex::queries_at_once(int64_t kept) const {
  if (!sharded_) return kQueriesAtOnce * std::ssize(parts_);
  int64_t results = 0;
  for (const auto& part : parts_) results += std::min(kept, part->rows().count);
  return std::clamp<int64_t>(kResultsAtOnce / results, 1, kQueriesAtOnce);
}

cuda::SearchRequest CudaIndex::device_request(const DeviceQueries& queries, PartRange range,
                                              size_t i, const Request& request) const {
  cuda::SearchRequest own = queries.request(range.first, range.count);
  own.bounded = request.bounded ? 1 : 0;
  own.exactness = request.exactness;
  own.nprobe = request.nprobe;
  own.allowed = request.allowed;
  if (request.kept_rows != nullptr) own.kept_bits = request.kept_rows->bits(i);
  if (&searched_rows(i, request) == parts_[i].get()) own.kept_share = request.kept_share;
  if (request.list_filter != nullptr) {
    own.kept_bits = request.list_filter->bits(i);
    if (request.ranks_few != nullptr) {
      own.list_filter = request.list_filter->lists();
      own.wanted_rows = request.list_filter->wanted_rows();
      own.ranks_few = request.ranks_few + range.first;
    }
  }
  own.resident_allowed = request.arrays->allowed;
  own.scores_are_there = request.arrays->scores ? 1 : 0;
  own.rows_are_there = request.arrays->ids ? 1 : 0;
  own.stream = request.stream;
  return own;
}

void CudaIndex::search_copies(const DeviceQueries& queries, const Request& request) const {
  const std::vector<PartRange> ranges = split_evenly(request.nq, std::ssize(parts_), 1);
  const size_t first_part = next_part_.fetch_add(ranges.size());
  threads_.run_together(ranges.size(), [&](size_t i) {
    const size_t part = (first_part + i) % parts_.size();
    const PartRange& range = ranges[i];
    cuda::SearchRequest own = device_request(queries, range, part, request);
    own.k = request.kept;
    own.results = request.k;
    own.scores = request.scores + range.first * request.k;
    own.rows = request.rows + range.first * request.k;
    searched_rows(part, request).search(own);
    if (request.kept_rows != nullptr)
      request.kept_rows->number(part, {own.rows, static_cast<size_t>(range.count * request.k)});
  });
}

void CudaIndex::search_shards(const DeviceQueries& queries, const Request& request) const {
  std::vector<PartResults> results;
  results.reserve(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i)
    results.emplace_back(request.nq, std::min(request.kept, searched_rows(i, request).rows().count),
                         parts_[i]->rows().first);
  threads_.run_together(parts_.size(), [&](size_t i) {
    cuda::SearchRequest own = device_request(queries, {0, request.nq}, i, request);
    own.k = own.results = results[i].k;
    if (own.allowed != nullptr) own.allowed += results[i].first_row / kBlockRows;
    own.scores = results[i].scores.data();
    own.rows = results[i].rows.data();
    own.similarity = results[i].similarity.data();
    searched_rows(i, request).search(own);
    if (request.kept_rows != nullptr) request.kept_rows->number(i, results[i].rows);
  });
  for_each_query(request.nq, request.threads, [&](int64_t q) {
    merge_parts(results, q, {request.k, request.kept, codec_->higher_is_nearer()},
                request.scores + q * request.k, request.rows + q * request.k);
  });
}

void CudaIndex::search_some(const DeviceQueries& queries, const Request& request) const {
  if (sharded_) {
    search_shards(queries, request);
  } else {
    search_copies(queries, request);
  }
}

// Devices know rows by their numbers, so that all rows they keep come back.
void CudaIndex::search_inverted(const DeviceQueries& queries, const Request& request) const {
  std::vector<float> kept_scores(static_cast<size_t>(request.nq * request.kept));
  std::vector<int64_t> kept_rows(kept_scores.size());
  Request all = request;
  all.k = request.kept;
  all.scores = kept_scores.data();
  all.rows = kept_rows.data();
  search_some(queries, all);
  for_each_query(request.nq, request.threads, [&](int64_t q) {
    std::vector<Neighbor> found;
    for (auto at = static_cast<size_t>(q * all.k); at < static_cast<size_t>((q + 1) * all.k);
         ++at) {
      if (kept_rows[at] < 0) continue;
      found.emplace_back(key_of_score(kept_scores[at], codec_->higher_is_nearer()),
                         lists_->id(kept_rows[at]));
    }
    write_top_k(found, request.k, codec_->higher_is_nearer(), request.scores + q * request.k,
                request.rows + q * request.k);
  });
}

int CudaIndex::preparing_threads(int wanted, int64_t nq) const {
  // OpenMP's threads spin on after a loop. The threads that wait for devices need a core too.
  const int threads = thread_count(wanted, std::numeric_limits<int>::max());
  const auto left = std::max<int64_t>(1, threads - (std::ssize(parts_) - 1));
  return static_cast<int>(std::min(left, std::max<int64_t>(nq, 1)));
}

void CudaIndex::require_stream(void* stream) const {
  require(stream == nullptr || devices_ == 1, StatusCode::bad_argument,
          "stream: {} is not allowed; NULL, since a stream is of one device and the index is on {}",
          stream, devices_);
}

void CudaIndex::search_arrays(const SearchRequest& wanted, const ResidentArrays& arrays,
                              void* stream, const SearchResult& result) const {
  require_stream(stream);
  if (lists_ != nullptr) {
    search_lists(wanted, arrays, stream, result);
  } else {
    search_rows(wanted, arrays, stream, result);
  }
}

InvertedFile CudaIndex::inverted_file() const {
  return {*codec_, scan_codec_.get(), *list_ids_, lists_->centres(), lists_->list_offsets()};
}

void CudaIndex::read_rows(std::span<const int64_t> rows, uint8_t* codes) const {
  // Copies have all rows each: the first one reads them.
  for (const auto& part : parts_) {
    const auto [first, count] = part->rows();
    std::vector<int64_t> own;
    while (static_cast<int64_t>(own.size()) < std::ssize(rows) && rows[own.size()] < first + count)
      own.push_back(rows[own.size()] - first);
    part->read(scan_codec_->layout(), own, codes);
    codes += own.size() * scan_codec_->layout().row_format_bytes();
    rows = rows.subspan(own.size());
  }
}

void CudaIndex::search_lists(const SearchRequest& wanted, const ResidentArrays& arrays,
                             void* stream, const SearchResult& result) const {
  SearchRequest asked = wanted;
  asked.rows_state = rows_state_;
  asked.progress = {};
  asked.options.nprobe = std::min(
      wanted.options.nprobe > 0 ? wanted.options.nprobe : lists_->nprobe(), lists_->count());
  int64_t wanted_rows = 0;
  if (!asked.filter.keeps_all()) {
    const CopyKeptRows copy_kept = [this](const KeptListRows& kept) {
      return std::make_unique<ListsOfKeptRows>(
          *codec_, *lists_, kept,
          [this](std::span<const int64_t> rows, uint8_t* codes) { read_rows(rows, codes); });
    };
    const KeptRowsSearch search =
        search_kept_rows(inverted_file(), lists_->ntotal(), &asked, result, copy_kept);
    if (search.done) return;
    wanted_rows = search.wanted_rows;
  }
  const CudaListFilter filter(*lists_, asked.filter, wanted_rows,
                              kept_lists_of(wanted.filter, asked.filter));
  search_until_filled(asked, dim(), lists_->count(), result,
                      [&](const SearchRequest& some, const SearchResult& found) {
                        search_probed(some, filter, make_request(some, arrays, stream), found);
                      });
}

CudaIndex::Request CudaIndex::make_request(const SearchRequest& wanted,
                                           const ResidentArrays& arrays, void* stream) const {
  Request request = {};
  request.arrays = &arrays;
  request.k = wanted.goal.k;
  request.kept = std::min(scan_codec_->rescored_rows(request.k), std::max(request.k, row_numbers_));
  request.bounded = search_is_bounded(*scan_codec_, wanted.options.exactness);
  request.exactness = request.bounded ? wanted.options.exactness : 0;
  request.stream = stream;
  request.threads = preparing_threads(wanted.threads, wanted.nq);
  return request;
}

void CudaIndex::search_probed(const SearchRequest& wanted, const CudaListFilter& filter,
                              Request request, const SearchResult& result) const {
  request.nprobe = wanted.options.nprobe;
  request.allowed = filter.allowed();
  request.list_filter = &filter;
  const std::vector<uint8_t> ranks_few = filter.ranks_few(*scan_codec_, wanted);
  request.ranks_few = ranks_few.empty() ? nullptr : ranks_few.data();
  search_in_groups(wanted, request, result);
}

void CudaIndex::search_rows(const SearchRequest& wanted, const ResidentArrays& arrays, void* stream,
                            const SearchResult& result) const {
  const RowFilter allowed = allowed_rows(wanted.filter);
  Request request = make_request(wanted, arrays, stream);
  std::shared_ptr<const RowCopiesElsewhere> copies;
  if (!allowed.keeps_all()) {
    const auto& kept = static_cast<const KeptRows&>(*allowed.rule());
    copies = copies_of(wanted.filter, kept);
    request.kept_rows = static_cast<const CudaKeptRows*>(copies.get());
    if (copies == nullptr) request.allowed = kept.words().data();
    request.kept_share = kept_share(kept);
  }
  search_in_groups(wanted, request, result);
  if (ids_.empty()) return;  // as where result.ids lie on the device
  for (int64_t i = 0; i < wanted.nq * request.k; ++i) {
    int64_t& id = result.ids[i];
    if (id >= 0) id = ids_[static_cast<size_t>(id)];
  }
}

void CudaIndex::search_in_groups(const SearchRequest& wanted, Request request,
                                 const SearchResult& result) const {
  const int64_t nq = wanted.nq;
  const int64_t at_once = queries_at_once(request.kept);
  for (int64_t first = 0; first < nq; first += at_once) {
    request.nq = std::min(at_once, nq - first);
    request.scores = result.scores + first * request.k;
    request.rows = result.ids + first * request.k;
    const DeviceQueries some = prepare(wanted, first, request);
    if (lists_ != nullptr) {
      search_inverted(some, request);
    } else {
      search_some(some, request);
    }
    if (request.ranks_few != nullptr) request.ranks_few += request.nq;
  }
}

}  // namespace polarquant::device
