// SPDX-License-Identifier: MIT
// CudaIndex's scores of single rows, which another search found.
#include <algorithm>

#include "src/device/cuda_index.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant::device {
namespace {

/// Rows of a part, by its numbers; −1 for others.
std::vector<int64_t> rows_of_part(const PartRange& part, const int64_t* rows, int64_t count) {
  std::vector<int64_t> own(static_cast<size_t>(count), -1);
  for (int64_t i = 0; i < count; ++i)
    if (rows[i] >= part.first && rows[i] < part.first + part.count)
      own[static_cast<size_t>(i)] = rows[i] - part.first;
  return own;
}

}  // namespace

DeviceQueries CudaIndex::rotate(int64_t nq, const float* queries, int threads) const {
  DeviceQueries rotated(*scan_codec_, nq, queries);
  for_each_query(nq, threads,
                 [&](int64_t q) { rotated.put(q, codec_->prepare_query(queries + q * dim())); });
  return rotated;
}

void CudaIndex::score_rows(const SearchRequest& request, const int64_t* rows, void* stream,
                           float* scores) const {
  require_stream(stream);
  const int64_t k = request.goal.k;
  const DeviceQueries queries =
      rotate(request.nq, request.queries, preparing_threads(request.threads, request.nq));
  const auto score = [&](const CudaRows& part, PartRange some, const int64_t* own, float* to) {
    const cuda::SearchRequest prepared = queries.request(some.first, some.count);
    part.score({some.count, k, prepared.rotated, prepared.terms, own, stream, to});
  };
  if (!sharded_) {
    const std::vector<PartRange> ranges = split_evenly(request.nq, std::ssize(parts_), 1);
    const size_t first_part = next_part_.fetch_add(ranges.size());
    threads_.run_together(ranges.size(), [&](size_t i) {
      score(*parts_[(first_part + i) % parts_.size()], ranges[i], rows + ranges[i].first * k,
            scores + ranges[i].first * k);
    });
    return;
  }
  const int64_t count = request.nq * k;
  std::vector<std::vector<float>> found(parts_.size());
  threads_.run_together(parts_.size(), [&](size_t i) {
    const std::vector<int64_t> own = rows_of_part(parts_[i]->rows(), rows, count);
    found[i].resize(own.size());
    score(*parts_[i], {0, request.nq}, own.data(), found[i].data());
  });
  for (int64_t at = 0; at < count; ++at) {
    size_t part = 0;  // of no row any
    while (part + 1 < parts_.size() && rows[at] >= parts_[part + 1]->rows().first) ++part;
    scores[at] = found[part][static_cast<size_t>(at)];
  }
}

}  // namespace polarquant::device
