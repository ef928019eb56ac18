// SPDX-License-Identifier: MIT
// Results of a group of queries on their way to where a search wants them: in the device's memory
// as they are written, or by pinned memory, so that the stream copies, to the host's.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/device_buffer.h"
#include "cuda/interface.h"

namespace polarquant::cuda {

/// What final_scores writes, (nq, k).
struct GroupResults {
  float* scores;
  int64_t* rows;
  float* similarity;  // null where it is not wanted
};

class ResultCopies {
 public:
  ResultCopies(const SearchRequest& request, cudaStream_t stream)
      : request_(request), stream_(stream) {}

  size_t pinned_bytes(int64_t nq) const;
  /// Scratch memory for nq queries.
  GroupResults take(Carver* carver, int64_t nq) const;
  /// Where final_scores is to write: `scratch`, or at once to where results are wanted.
  GroupResults places(const GroupResults& scratch, int64_t first_query) const;
  /// Puts copies of what was written there on the stream.
  void begin(const GroupResults& written, int64_t first_query, int64_t nq, uint8_t* pinned) const;
  /// What is left to do when the stream has done these.
  void end(int64_t first_query, int64_t nq, uint8_t* pinned) const;

 private:
  bool writes_all() const { return request_.results == request_.k; }
  int64_t* host_rows(uint8_t* pinned) const { return reinterpret_cast<int64_t*>(pinned); }
  float* host_scores(uint8_t* pinned, int64_t nq) const;
  float* host_similarity(uint8_t* pinned, int64_t nq) const;

  const SearchRequest& request_;
  cudaStream_t stream_;
};

}  // namespace polarquant::cuda
