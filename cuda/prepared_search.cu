// SPDX-License-Identifier: MIT
#include "cuda/prepared_search.h"

#include "cuda/cuda_check.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

/// Numbers of rows become their ids.
__global__ void __launch_bounds__(kThreads)
    name_rows_kernel(const int64_t* ids, int64_t count, int64_t* rows) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at < count && rows[at] >= 0) rows[at] = ids[rows[at]];
}

}  // namespace

PreparedSearch::PreparedSearch(const DeviceIndex& index, const SearchRequest& shape,
                               const int64_t* ids)
    : index_(index), shape_(shape) {
  if (index.queries() == nullptr || index.lists() != nullptr || index.code().rows == 0)
    throw DeviceError(StatusCode::internal, "the index takes no prepared searches");
  const CurrentDevice current(index.device());
  shape_.is_prepared = 1;
  shape_.scores_are_there = 1;
  shape_.rows_are_there = 1;
  groups_ = SearchGroups(index, shape_);
  groups_.take_memory(&workspace_);
  if (ids == nullptr) return;
  const size_t bytes = static_cast<size_t>(index.code().rows) * sizeof(int64_t);
  ids_.need(bytes);
  POLAR_CUDA_CHECK(cudaMemcpy(ids_.as<void>(), ids, bytes, cudaMemcpyHostToDevice));
}

void PreparedSearch::start(const PreparedSearchArrays& arrays) const {
  const CurrentDevice current(index_.device());
  auto* stream = static_cast<cudaStream_t>(arrays.stream);
  SearchRequest request = shape_;
  request.resident.queries = arrays.queries;
  request.scores = arrays.scores;
  request.rows = arrays.ids;
  request.unfinished = arrays.unfinished;
  request.stream = arrays.stream;
  POLAR_CUDA_CHECK(cudaMemsetAsync(arrays.unfinished, 0, sizeof(int32_t), stream));
  groups_.run(index_, request, workspace_);
  if (ids_.bytes() == 0) return;
  const int64_t count = request.nq * request.results;
  name_rows_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0,
                     stream>>>(ids_.as<int64_t>(), count, arrays.ids);
  POLAR_CUDA_CHECK_LAUNCH(name_rows_kernel);
}

}  // namespace polarquant::cuda
