// SPDX-License-Identifier: MIT
#include "src/capi/cuda_index.h"

#include <algorithm>
#include <cstring>

#include "src/capi/codec_copy.h"
#include "src/capi/cuda_description.h"
#include "src/core/aligned_buffer.h"
#include "src/scan/query_tasks.h"

namespace polarquant::capi {
namespace {

/// Queries that are prepared before the device gets them.
constexpr int64_t kQueriesAtOnce = 4096;
/// Blocks copied through a buffer at a time.
constexpr int64_t kStagedBlocks = 256;

/// Copies spans of rows to a device, where every block is full and fronts and rests lie apart.
class BlockCopier {
 public:
  BlockCopier(const BlockLayout& layout, cuda::DeviceIndex* index)
      : layout_(layout),
        index_(index),
        fronts_(kStagedBlocks * layout.front_bytes(kBlockRows)),
        rests_(kStagedBlocks * kBlockRows * layout.rest_bytes()) {}

  void copy(const BlockRows& span) {
    const int64_t full = span.rows / kBlockRows;
    if (span.rests != nullptr) {
      write(full, span.data, span.rests);
    } else {
      for (int64_t first = 0; first < full; first += kStagedBlocks)
        copy_parts(span, first, std::min(kStagedBlocks, full - first));
    }
    if (span.rows % kBlockRows != 0) copy_last(span, full);
  }

 private:
  void write(int64_t blocks, const void* fronts, const void* rests) {
    if (blocks == 0) return;
    call_cuda(cuda_functions().write_blocks, index_, next_block_, blocks, fronts, rests);
    next_block_ += blocks;
  }

  void copy_parts(const BlockRows& span, int64_t first, int64_t blocks) {
    const size_t front_bytes = layout_.front_bytes(kBlockRows);
    const size_t rest_bytes = kBlockRows * layout_.rest_bytes();
    for (int64_t i = 0; i < blocks; ++i) {
      const RowPlace place = span.place(layout_, (first + i) * kBlockRows);
      const auto at = static_cast<size_t>(i);
      std::memcpy(fronts_.data() + at * front_bytes, place.front, front_bytes);
      if (rest_bytes != 0) std::memcpy(rests_.data() + at * rest_bytes, place.rest, rest_bytes);
    }
    write(blocks, fronts_.data(), rests_.data());
  }

  /// A block with room for fewer rows has its parts elsewhere.
  void copy_last(const BlockRows& span, int64_t block) {
    std::fill_n(fronts_.data(), layout_.front_bytes(kBlockRows), uint8_t{0});
    std::fill_n(rests_.data(), kBlockRows * layout_.rest_bytes(), uint8_t{0});
    std::vector<uint8_t> code(layout_.row_format_bytes());
    for (int64_t row = block * kBlockRows; row < span.rows; ++row) {
      layout_.get_row(span.place(layout_, row), code.data());
      layout_.put_row(code.data(), {fronts_.data(), rests_.data(), kBlockRows,
                                    static_cast<int>(row % kBlockRows)});
    }
    write(1, fronts_.data(), rests_.data());
  }

  const BlockLayout& layout_;
  cuda::DeviceIndex* index_;
  AlignedVector<uint8_t> fronts_;
  AlignedVector<uint8_t> rests_;
  int64_t next_block_ = 0;
};

}  // namespace

CudaIndex::CudaIndex(const Codec& codec, std::span<const BlockRows> spans,
                     std::span<const int64_t> ids, int32_t device)
    : ids_(ids.begin(), ids.end()) {
  require_cuda_device("options.device", device);
  codec_ = copy_of(codec);
  scan_codec_ = std::make_unique<ScanCodec>(*codec_);
  const cuda::CodeDescription description = describe_code(*codec_, *scan_codec_);
  for (const BlockRows& span : spans) rows_ += span.rows;
  require(rows_ <= cuda::kMaxRows, StatusCode::unsupported,
          "index: holds {} rows; up to {} fit a CUDA device", rows_, cuda::kMaxRows);
  device_index_.reset(call_cuda(cuda_functions().create, device, &description, rows_));
  BlockCopier copier(scan_codec_->layout(), device_index_.get());
  for (const BlockRows& span : spans) copier.copy(span);
  call_cuda(cuda_functions().finish, device_index_.get());
}

size_t CudaIndex::memory_bytes() const {
  return cuda_functions().memory_bytes(device_index_.get());
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

void CudaIndex::search(int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
                       const SearchOptions& options, void* stream, float* scores,
                       int64_t* ids) const {
  const bool bounded = search_is_bounded(*scan_codec_, options.exactness);
  const std::vector<uint64_t> allowed = allowed_rows(filter);
  const int threads = thread_count(options.threads, nq);
  // The device orders what it returns by the codec's scores: of more rows the first k are the best.
  const int64_t kept = std::min(scan_codec_->candidates(k), std::max(k, rows_));
  std::vector<float> kept_scores;
  std::vector<int64_t> kept_rows;
  for (int64_t first = 0; first < nq; first += kQueriesAtOnce) {
    const int64_t count = std::min(kQueriesAtOnce, nq - first);
    DeviceQueries device_queries(*scan_codec_, count);
    for_each_query(count, threads, [&](int64_t q) {
      const PreparedQuery prepared = codec_->prepare_query(queries + (first + q) * dim());
      device_queries.put(
          q, make_scan_query(*scan_codec_, prepared, bounded ? options.exactness : 0), prepared);
    });
    cuda::SearchRequest request = {};
    request.nq = count;
    request.k = kept;
    request.bounded = bounded ? 1 : 0;
    request.constants = device_queries.constants.data();
    request.levels = device_queries.levels.data();
    request.rotated = device_queries.rotated.data();
    request.allowed = allowed.empty() ? nullptr : allowed.data();
    request.stream = stream;
    request.scores = scores + first * k;
    request.rows = ids + first * k;
    if (kept > k) {
      kept_scores.resize(static_cast<size_t>(count * kept));
      kept_rows.resize(kept_scores.size());
      request.scores = kept_scores.data();
      request.rows = kept_rows.data();
    }
    call_cuda(cuda_functions().search, device_index_.get(), &request);
    if (kept == k) continue;
    for (int64_t q = 0; q < count; ++q) {
      std::copy_n(kept_scores.begin() + q * kept, k, scores + (first + q) * k);
      std::copy_n(kept_rows.begin() + q * kept, k, ids + (first + q) * k);
    }
  }
  if (ids_.empty()) return;
  for (int64_t i = 0; i < nq * k; ++i) {
    if (ids[i] >= 0) ids[i] = ids_[static_cast<size_t>(ids[i])];
  }
}

}  // namespace polarquant::capi
