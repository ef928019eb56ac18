// SPDX-License-Identifier: MIT
// Scores of rows that the host names: those that another search found.
#include "cuda/listed_scores.h"

#include <algorithm>

#include "cuda/cuda_check.h"
#include "cuda/final_scores.h"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
/// Scores at a time: what they take of a workspace is 28 bytes each.
constexpr int64_t kMostScores = int64_t{1} << 24;

__global__ void __launch_bounds__(kThreads)
    rank_rows_kernel(const int64_t* rows, int64_t count, Ranked* ranked) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at < count) ranked[at] = rows[at] >= 0 ? ranked_row(0, rows[at]) : 0;
}

/// What a group of queries needs on the device.
struct GroupMemory {
  float* rotated;
  QueryTerms* terms;
  int64_t* rows;
  Ranked* ranked;
  Ranked* exact;
  float* scores;

  size_t carve(void* base, int64_t nq, int64_t k, int dim) {
    Carver carver(base);
    const auto scored = static_cast<size_t>(nq * k);
    rotated = carver.take<float>(static_cast<size_t>(nq) * static_cast<size_t>(dim));
    terms = carver.take<QueryTerms>(static_cast<size_t>(nq));
    rows = carver.take<int64_t>(scored);
    ranked = carver.take<Ranked>(scored);
    exact = carver.take<Ranked>(scored);
    scores = carver.take<float>(scored);
    return carver.used();
  }
};

void score_group(const CodeView& code, const ListedRowsRequest& request, int64_t first, int64_t nq,
                 const GroupMemory& memory) {
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const auto upload = [&](auto* to, const auto* from, int64_t count) {
    POLAR_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<size_t>(count) * sizeof(*to),
                                     cudaMemcpyHostToDevice, stream));
  };
  const int64_t count = nq * request.k;
  upload(memory.rotated, request.rotated + first * code.dim, nq * code.dim);
  upload(memory.terms, request.terms + first, nq);
  upload(memory.rows, request.rows + first * request.k, count);
  rank_rows_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0,
                     stream>>>(memory.rows, count, memory.ranked);
  POLAR_CUDA_CHECK_LAUNCH(rank_rows_kernel);
  QueryView queries = {};
  queries.nq = static_cast<int32_t>(nq);
  queries.rotated = memory.rotated;
  exact_scores(code, queries, memory.terms, memory.ranked, request.k, memory.exact, memory.scores,
               stream);
  POLAR_CUDA_CHECK(cudaMemcpyAsync(request.scores + first * request.k, memory.scores,
                                   static_cast<size_t>(count) * sizeof(float),
                                   cudaMemcpyDeviceToHost, stream));
  POLAR_CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

void score_listed(const DeviceIndex& index, const ListedRowsRequest& request) {
  if (request.nq == 0 || request.k == 0) return;
  const CurrentDevice current(index.device());
  const WorkspaceLease lease(index.workspaces(), static_cast<cudaStream_t>(request.stream));
  Workspace& workspace = *lease;
  const CodeView& code = index.code();
  const int64_t group = std::clamp<int64_t>(kMostScores / request.k, 1, request.nq);
  GroupMemory memory = {};
  workspace.device.need(memory.carve(nullptr, group, request.k, code.dim));
  for (int64_t first = 0; first < request.nq; first += group) {
    const int64_t nq = std::min(group, request.nq - first);
    memory.carve(workspace.device.as<void>(), nq, request.k, code.dim);
    score_group(code, request, first, nq, memory);
  }
}

}  // namespace polarquant::cuda
