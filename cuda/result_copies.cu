// SPDX-License-Identifier: MIT
#include "cuda/result_copies.h"

#include <algorithm>

#include "cuda/cuda_check.h"

namespace polarquant::cuda {
namespace {

/// The first `to_count` of `from_count` numbers of each query.
struct Columns {
  size_t to_count;
  size_t from_count;
};

template <typename T>
void begin_copy(T* to, const T* from, Columns columns, int64_t nq, cudaStream_t stream) {
  if (columns.to_count == columns.from_count) {
    POLAR_CUDA_CHECK(cudaMemcpyAsync(to, from,
                                     static_cast<size_t>(nq) * columns.to_count * sizeof(T),
                                     cudaMemcpyDefault, stream));
    return;
  }
  POLAR_CUDA_CHECK(cudaMemcpy2DAsync(to, columns.to_count * sizeof(T), from,
                                     columns.from_count * sizeof(T), columns.to_count * sizeof(T),
                                     static_cast<size_t>(nq), cudaMemcpyDefault, stream));
}

}  // namespace

float* ResultCopies::host_scores(uint8_t* pinned, int64_t nq) const {
  return reinterpret_cast<float*>(host_rows(pinned) + nq * request_.results);
}
float* ResultCopies::host_similarity(uint8_t* pinned, int64_t nq) const {
  return host_scores(pinned, nq) + nq * request_.results;
}

size_t ResultCopies::pinned_bytes(int64_t nq) const {
  const size_t numbers = sizeof(int64_t) + sizeof(float) * (request_.similarity != nullptr ? 2 : 1);
  return static_cast<size_t>(nq * request_.results) * numbers;
}

GroupResults ResultCopies::take(Carver* carver, int64_t nq) const {
  const auto count = static_cast<size_t>(nq * request_.k);
  return {carver->take<float>(count), carver->take<int64_t>(count),
          request_.similarity != nullptr ? carver->take<float>(count) : nullptr};
}

GroupResults ResultCopies::places(const GroupResults& scratch, int64_t first_query) const {
  GroupResults to = scratch;
  const int64_t first = first_query * request_.k;
  if (writes_all() && request_.scores_are_there != 0) to.scores = request_.scores + first;
  if (writes_all() && request_.rows_are_there != 0) to.rows = request_.rows + first;
  return to;
}

void ResultCopies::begin(const GroupResults& written, int64_t first_query, int64_t nq,
                         uint8_t* pinned) const {
  const Columns columns = {static_cast<size_t>(request_.results), static_cast<size_t>(request_.k)};
  const int64_t first = first_query * request_.results;
  if (request_.rows_are_there == 0) {
    begin_copy(host_rows(pinned), written.rows, columns, nq, stream_);
  } else if (!writes_all()) {
    begin_copy(request_.rows + first, written.rows, columns, nq, stream_);
  }
  if (request_.scores_are_there == 0) {
    begin_copy(host_scores(pinned, nq), written.scores, columns, nq, stream_);
  } else if (!writes_all()) {
    begin_copy(request_.scores + first, written.scores, columns, nq, stream_);
  }
  if (request_.similarity != nullptr)
    begin_copy(host_similarity(pinned, nq), written.similarity, columns, nq, stream_);
}

void ResultCopies::end(int64_t first_query, int64_t nq, uint8_t* pinned) const {
  const int64_t first = first_query * request_.results;
  const int64_t count = nq * request_.results;
  if (request_.rows_are_there == 0) std::copy_n(host_rows(pinned), count, request_.rows + first);
  if (request_.scores_are_there == 0)
    std::copy_n(host_scores(pinned, nq), count, request_.scores + first);
  if (request_.similarity != nullptr)
    std::copy_n(host_similarity(pinned, nq), count, request_.similarity + first);
}

}  // namespace polarquant::cuda
