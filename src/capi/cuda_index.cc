// SPDX-License-Identifier: MIT
#include "src/capi/cuda_index.h"

#include <algorithm>

#include "src/capi/codec_copy.h"
#include "src/scan/query_tasks.h"

namespace polarquant::capi {
namespace {

/// Queries that are prepared before a device gets them.
constexpr int64_t kQueriesAtOnce = 4096;
/// Results of shards that wait to be merged, 16 bytes each, unless one query has more.
constexpr int64_t kResultsAtOnce = int64_t{1} << 22;

/// Queries of `range` as a device takes them; what is to be found is not said yet.
cuda::SearchRequest device_request(const DeviceQueries& queries, PartRange range) {
  const auto first = static_cast<size_t>(range.first);
  cuda::SearchRequest request = {};
  request.nq = range.count;
  request.constants = queries.constants.data() + first;
  request.levels = queries.levels.data() + first * queries.lanes;
  request.rotated = queries.rotated.data() + first * queries.dim;
  return request;
}

}  // namespace

CudaIndex::CudaIndex(const Codec& codec, std::span<const BlockRows> spans,
                     std::span<const int64_t> ids, const CudaPlaces& places)
    : ids_(ids.begin(), ids.end()), devices_(places.devices.size()) {
  require_cuda_devices(places);
  codec_ = copy_of(codec);
  scan_codec_ = std::make_unique<ScanCodec>(*codec_);
  const cuda::CodeDescription description = describe_code(*codec_, *scan_codec_);
  for (const BlockRows& span : spans) rows_ += span.rows;
  const auto devices = static_cast<int64_t>(devices_);
  const std::vector<PartRange> ranges = places.replicated
                                            ? std::vector<PartRange>(devices_, {0, rows_})
                                            : split_evenly(rows_, devices, kBlockRows);
  sharded_ = !places.replicated && ranges.size() > 1;
  parts_.resize(ranges.size());
  run_together(ranges.size(), [&](size_t i) {
    parts_[i] = std::make_unique<CudaRows>(scan_codec_->layout(), description, spans, ranges[i],
                                           places.devices[i]);
  });
}

size_t CudaIndex::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& part : parts_) bytes += part->memory_bytes();
  return bytes;
}

std::vector<uint64_t> CudaIndex::allowed_rows(const RowFilter& filter) const {
  std::vector<uint64_t> allowed;
  if (filter.keeps_all()) return allowed;
  allowed.resize(static_cast<size_t>(div_up(rows_, kBlockRows)));
  for (int64_t row = 0; row < rows_; row += kBlockRows) {
    const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows_ - row));
    uint64_t& word = allowed[static_cast<size_t>(row / kBlockRows)];
    if (ids_.empty()) {
      word = filter.allowed(row, count);
      continue;
    }
    for (int i = 0; i < count; ++i) {
      const int64_t id = ids_[static_cast<size_t>(row + i)];
      word |= static_cast<uint64_t>(filter.keeps(id) ? 1 : 0) << i;
    }
  }
  return allowed;
}

DeviceQueries CudaIndex::prepare(int64_t nq, const float* queries, float exactness,
                                 int threads) const {
  DeviceQueries device_queries(*scan_codec_, nq);
  for_each_query(nq, threads, [&](int64_t q) {
    const PreparedQuery prepared = codec_->prepare_query(queries + q * dim());
    device_queries.put(q, make_scan_query(*scan_codec_, prepared, exactness), prepared);
  });
  return device_queries;
}

int64_t CudaIndex::queries_at_once(int64_t kept) const {
  if (!sharded_) return kQueriesAtOnce * std::ssize(parts_);
  int64_t results = 0;
  for (const auto& part : parts_) results += std::min(kept, part->rows().count);
  return std::clamp<int64_t>(kResultsAtOnce / results, 1, kQueriesAtOnce);
}

void CudaIndex::search_copies(const DeviceQueries& queries, const Request& request) const {
  const int64_t kept = request.kept;
  const bool chooses = kept > request.k;
  std::vector<float> kept_scores(chooses ? static_cast<size_t>(request.nq * kept) : 0);
  std::vector<int64_t> kept_rows(kept_scores.size());
  float* scores = chooses ? kept_scores.data() : request.scores;
  int64_t* rows = chooses ? kept_rows.data() : request.rows;
  const std::vector<PartRange> ranges = split_evenly(request.nq, std::ssize(parts_), 1);
  const size_t first_part = next_part_.fetch_add(ranges.size());
  run_together(ranges.size(), [&](size_t i) {
    cuda::SearchRequest own = device_request(queries, ranges[i]);
    own.k = kept;
    own.bounded = request.bounded ? 1 : 0;
    own.allowed = request.allowed;
    own.stream = request.stream;
    own.scores = scores + ranges[i].first * kept;
    own.rows = rows + ranges[i].first * kept;
    parts_[(first_part + i) % parts_.size()]->search(own);
  });
  if (!chooses) return;
  // The device orders what it returns by the codec's scores: of more rows the first k are the best.
  for (int64_t q = 0; q < request.nq; ++q) {
    std::copy_n(scores + q * kept, request.k, request.scores + q * request.k);
    std::copy_n(rows + q * kept, request.k, request.rows + q * request.k);
  }
}

void CudaIndex::search_shards(const DeviceQueries& queries, const Request& request) const {
  std::vector<PartResults> results;
  results.reserve(parts_.size());
  for (const auto& part : parts_)
    results.emplace_back(request.nq, std::min(request.kept, part->rows().count),
                         part->rows().first);
  run_together(parts_.size(), [&](size_t i) {
    cuda::SearchRequest own = device_request(queries, {0, request.nq});
    own.k = results[i].k;
    own.bounded = request.bounded ? 1 : 0;
    if (request.allowed != nullptr)
      own.allowed = request.allowed + results[i].first_row / kBlockRows;
    own.scores = results[i].scores.data();
    own.rows = results[i].rows.data();
    own.goodness = results[i].goodness.data();
    parts_[i]->search(own);
  });
  for_each_query(request.nq, request.threads, [&](int64_t q) {
    merge_parts(results, q, request.kept, request.k, codec_->higher_is_nearer(),
                request.scores + q * request.k, request.rows + q * request.k);
  });
}

void CudaIndex::search(int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                       const SearchOptions& options, void* stream, float* scores,
                       int64_t* ids) const {
  require(stream == nullptr || devices_ == 1, StatusCode::bad_argument,
          "stream: {} is not allowed; NULL, since a stream is of one device and the index is on {}",
          stream, devices_);
  const std::vector<uint64_t> allowed = allowed_rows(filter);
  Request request = {};
  request.k = k;
  request.kept = std::min(scan_codec_->candidates(k), std::max(k, rows_));
  request.bounded = search_is_bounded(*scan_codec_, options.exactness);
  request.allowed = allowed.empty() ? nullptr : allowed.data();
  request.stream = stream;
  request.threads = thread_count(options.threads, nq);
  const float exactness = request.bounded ? options.exactness : 0;
  const int64_t at_once = queries_at_once(request.kept);
  for (int64_t first = 0; first < nq; first += at_once) {
    request.nq = std::min(at_once, nq - first);
    request.scores = scores + first * k;
    request.rows = ids + first * k;
    const DeviceQueries some =
        prepare(request.nq, queries + first * dim(), exactness, request.threads);
    if (sharded_) {
      search_shards(some, request);
    } else {
      search_copies(some, request);
    }
  }
  if (ids_.empty()) return;
  for (int64_t i = 0; i < nq * k; ++i) {
    if (ids[i] >= 0) ids[i] = ids_[static_cast<size_t>(ids[i])];
  }
}

}  // namespace polarquant::capi
