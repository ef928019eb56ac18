// SPDX-License-Identifier: MIT
// An index on CUDA devices as the C ABI has it: the codec that prepares queries, and the codes on
// the devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/capi/cuda_description.h"
#include "src/capi/cuda_options.h"
#include "src/capi/cuda_rows.h"
#include "src/codec/codec.h"
#include "src/scan/block_search.h"

namespace polarquant::capi {

class CudaIndex {
 public:
  /// Copies rows in blocks of this codec, whose state is copied too. `ids`: those of rows that have
  /// ids of their own, else empty. Throws unsupported for codes that are not searched on devices.
  CudaIndex(const Codec& codec, std::span<const BlockRows> spans, std::span<const int64_t> ids,
            const CudaPlaces& places);

  int dim() const { return codec_->dim(); }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const;
  /// As block_search; `stream` is a cudaStream_t, which is waited for, null where there are several
  /// devices. `filter` is over ids.
  void search(int64_t nq, const float* queries, int64_t k, const RowFilter& filter,
              const SearchOptions& options, void* stream, float* scores, int64_t* ids) const;

 private:
  /// What some queries ask for.
  struct Request {
    int64_t nq;
    int64_t k;
    int64_t kept;             // k or more: rows that the codec's scores choose from
    bool bounded;             // rows are ranked by the least of score and bounds
    const uint64_t* allowed;  // a word a block of all rows, or null
    void* stream;
    int threads;
    float* scores;  // (nq, k)
    int64_t* rows;  // (nq, k)
  };

  std::vector<uint64_t> allowed_rows(const RowFilter& filter) const;
  DeviceQueries prepare(int64_t nq, const float* queries, float exactness, int threads) const;
  int64_t queries_at_once(int64_t kept) const;
  /// Each of the devices, which have all rows, searches for some of the queries.
  void search_copies(const DeviceQueries& queries, const Request& request) const;
  /// Each of the devices searches its rows for all queries.
  void search_shards(const DeviceQueries& queries, const Request& request) const;

  std::unique_ptr<Codec> codec_;
  std::unique_ptr<ScanCodec> scan_codec_;
  int64_t rows_ = 0;
  std::vector<int64_t> ids_;
  size_t devices_;
  bool sharded_ = false;  // else every part has all rows
  std::vector<std::unique_ptr<CudaRows>> parts_;
  /// Of copies, the one that is next: calls of few queries so use all of them.
  mutable std::atomic<size_t> next_part_ = 0;
};

}  // namespace polarquant::capi
