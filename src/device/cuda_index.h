// SPDX-License-Identifier: MIT
// An index on CUDA devices, for the C ABI: the codec that prepares queries, and the codes on the
// devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/rows_state.h"
#include "src/device/cuda_description.h"
#include "src/device/cuda_kept_rows.h"
#include "src/device/cuda_list_filter.h"
#include "src/device/cuda_lists.h"
#include "src/device/cuda_places.h"
#include "src/device/cuda_rows.h"
#include "src/device/device_threads.h"
#include "src/device/lists_of_ids.h"
#include "src/device/resident_arrays.h"
#include "src/scan/search/search_result.h"

namespace polarquant::device {

/// Searches that nobody waits for, of an index's rows as they were.
struct CudaPreparedSearch {
  void start(const cuda::PreparedSearchArrays& arrays) const;
  size_t memory_bytes() const { return cuda_functions().search_bytes(search.get()); }

  std::shared_ptr<const CudaRows> rows;
  DeviceBitsHandle bits;  // which the search reads; null without a filter
  PreparedSearchHandle search;
};

class CudaIndex {
 public:
  /// Copies rows in blocks of this codec, whose state is copied too. `ids`: those of rows that have
  /// ids of their own, else empty. Throws unsupported for codes that are not searched on devices.
  CudaIndex(const Codec& codec, std::span<const BlockRows> spans, std::span<const int64_t> ids,
            const CudaPlaces& places);
  /// Copies an inverted file.
  CudaIndex(const ListsSource& source, const CudaPlaces& places);

  /// Whether add_rows is to be called for rows that have been added to what was copied: there are
  /// some already, and each device has all.
  bool takes_rows() const { return rows() > 0 && !sharded_ && parts_.size() == devices_; }
  /// Rows have been added since to the index that was copied, and no other changed or went: its
  /// rows and ids as they are now. Nobody may search meanwhile. Unchanged after an error.
  void add_rows(std::span<const BlockRows> spans, std::span<const int64_t> ids);
  void add_rows(const ListsSource& source);

  const Codec& codec() const { return *codec_; }
  int dim() const { return codec_->dim(); }
  int64_t rows() const { return lists_ != nullptr ? lists_->ntotal() : row_numbers_; }
  size_t memory_bytes() const;
  bool is_inverted_file() const { return lists_ != nullptr; }
  /// 0 of an index without.
  int64_t list_count() const { return lists_ != nullptr ? lists_->count() : 0; }
  /// As block_search, or as IndexIVFPolar::search_lists with nprobe lists, 0: as many as the index
  /// was copied with; of the k best. `stream` is a cudaStream_t, which is waited for, null where
  /// there are several devices. The filter is over ids.
  void search(const SearchRequest& request, void* stream, const SearchResult& result) const {
    search_arrays(request, {}, stream, result);
  }
  /// The same with arrays that lie where resident_use() says. `queries.refused` stands for queries
  /// that the host has to look at: what was found is then of no use.
  void search_arrays(const SearchRequest& request, const ResidentArrays& arrays, void* stream,
                     const SearchResult& result) const;
  ResidentUse resident_use() const;
  /// Takes memory for searches of `wanted`, whose queries are not there yet, on the one device.
  /// Throws unsupported where its queries are not prepared there, for several devices, and for
  /// inverted files.
  CudaPreparedSearch prepare_search(const SearchRequest& wanted, bool normalizes) const;
  /// Whose memory pointers are into: cuda::kHostMemory or a device's number.
  void find_memory(std::span<const void* const> pointers, int32_t* found) const;
  /// Copies between host and device memory, and waits for the stream.
  void copy(void* to, const void* from, size_t bytes, void* stream) const;
  /// Codec::score of request.goal.k rows for each query, in (nq, k), −1: none, whose score is the
  /// worst. Not for inverted files, and rows have no ids of their own.
  void score_rows(const SearchRequest& request, const int64_t* rows, void* stream,
                  float* scores) const;

 private:
  void require_stream(void* stream) const;
  DeviceQueries rotate(int64_t nq, const float* queries, int threads) const;
  void search_rows(const SearchRequest& request, const ResidentArrays& arrays, void* stream,
                   const SearchResult& result) const;
  void search_lists(const SearchRequest& request, const ResidentArrays& arrays, void* stream,
                    const SearchResult& result) const;
  /// What a search of some queries is asked for.
  struct Request {
    int64_t nq;
    int64_t k;
    int64_t kept;     // k or more: rows that the codec's scores choose from
    bool bounded;     // rows are ranked by the least of score and bounds
    float exactness;  // for an inverted file, as is nprobe
    int64_t nprobe;
    const uint64_t* allowed;            // a word for each block of all rows, or null
    const CudaKeptRows* kept_rows;      // in its place: what is on the devices, or null
    float kept_share;                   // of all rows, by a filter over rows; 0: not known
    const CudaListFilter* list_filter;  // of an inverted file
    const uint8_t* ranks_few;           // (nq), or null
    const ResidentArrays* arrays;
    void* stream;
    int threads;
    float* scores;  // (nq, k)
    int64_t* rows;  // (nq, k)
  };

  /// Describes lists where there are any.
  void copy_rows(std::span<const BlockRows> spans, std::span<const PartRange> ranges,
                 const ListsForDevices* lists, const CudaPlaces& places);
  /// What the devices have with the rows that were added; `lists`: those that they form, else null.
  CudaParts parts_with(const RowsToAdd& added, const cuda::ListsDescription* lists);
  /// KeptRows of all rows, asked once of a prepared filter.
  RowFilter allowed_rows(const RowFilter& filter) const;
  float kept_share(const KeptRows& kept) const {
    return static_cast<float>(kept.count()) / static_cast<float>(row_numbers_);
  }
  /// The rows that a prepared filter keeps, on the devices, copied once; null for other filters,
  /// and where the devices lack memory.
  std::shared_ptr<const RowCopiesElsewhere> copies_of(const RowFilter& filter,
                                                      const KeptRows& kept) const;
  /// The rows of lists that a prepared filter keeps, likewise. `asked`: with KeptListRows where it
  /// is known which lists have rows.
  std::shared_ptr<const RowCopiesElsewhere> kept_lists_of(const RowFilter& filter,
                                                          const RowFilter& asked) const;
  /// What device i searches.
  const CudaRows& searched_rows(size_t i, const Request& request) const {
    const CudaRows* copies = request.kept_rows != nullptr ? request.kept_rows->copies(i) : nullptr;
    return copies != nullptr ? *copies : *parts_[i];
  }
  /// The lists as the host has them.
  InvertedFile inverted_file() const;
  /// Codes of rows, rising, of an inverted file.
  void read_rows(std::span<const int64_t> rows, uint8_t* codes) const;
  /// `at_once` queries of a search after the other, into `result`.
  void search_in_groups(const SearchRequest& wanted, Request request,
                        const SearchResult& result) const;
  Request make_request(const SearchRequest& wanted, const ResidentArrays& arrays,
                       void* stream) const;
  /// Of the lists of an inverted file, over so many as the options say.
  void search_probed(const SearchRequest& wanted, const CudaListFilter& filter, Request request,
                     const SearchResult& result) const;
  /// The request's queries, which are those from `first` on.
  DeviceQueries prepare(const SearchRequest& wanted, int64_t first, const Request& request) const;
  /// For part i.
  cuda::SearchRequest device_request(const DeviceQueries& queries, PartRange range, size_t i,
                                     const Request& request) const;
  int64_t queries_at_once(int64_t kept) const;
  int preparing_threads(int wanted, int64_t nq) const;
  /// Every device has all rows: each searches for some of the queries.
  void search_copies(const DeviceQueries& queries, const Request& request) const;
  /// Every device has a part of the rows: each searches it for all queries.
  void search_shards(const DeviceQueries& queries, const Request& request) const;
  void search_some(const DeviceQueries& queries, const Request& request) const;
  /// The same for an inverted file, into the k best by score, ties to the lower id.
  void search_inverted(const DeviceQueries& queries, const Request& request) const;

  std::unique_ptr<Codec> codec_;
  std::unique_ptr<ScanCodec> scan_codec_;
  uint64_t rows_state_ = new_rows_state();
  int64_t row_numbers_ = 0;           // rows, with the spare rows after lists
  std::vector<int64_t> ids_;          // where rows have their own
  std::unique_ptr<CudaLists> lists_;  // for an inverted file, as are these
  std::unique_ptr<ListsOfIds> list_ids_;
  size_t devices_;
  bool sharded_ = false;  // else every part has all rows
  CudaParts parts_;
  /// The copy that the next call begins with, so that calls of few queries use all copies.
  mutable std::atomic<size_t> next_part_ = 0;
  /// Declared after the parts, which the threads may be using.
  mutable DeviceThreads threads_;
};

}  // namespace polarquant::device
