// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/cuda/cublas_halves.cuh"
#include "bench/cuda/cublas_search.h"
#include "cuda/row_terms.cuh"
#include "cuda/select_best.h"

namespace polarquant::bench {
namespace {

using cuda::Ranked;
using cuda::RankedLists;

constexpr int kThreads = 256;
constexpr uint32_t kListRows = 8192;
/// Scores of a piece: half of them fit the second-level cache of a large device.
constexpr int64_t kPieceScores = int64_t{12} << 20;
constexpr int64_t kSampleGroups = 8192;
constexpr int kGroupRows = 16;

/// The best of every 16 scores of a query.
__global__ void group_maxima(const __half* scores, int64_t rows, int64_t first_row,
                             uint32_t first_group, Ranked* maxima, uint32_t groups) {
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (group * kGroupRows >= rows) return;
  const __half* query_scores = scores + blockIdx.y * rows;
  Ranked best = 0;
  for (int64_t row = group * kGroupRows; row < min(rows, (group + 1) * kGroupRows); ++row)
    best = max(best, cuda::ranked_row(__half2float(query_scores[row]), first_row + row));
  maxima[static_cast<size_t>(blockIdx.y) * groups + first_group + group] = best;
}

/// Eight scores a thread; those that reach their query's threshold are listed.
__global__ void take_reaching(const __half* scores, int64_t rows, int64_t first_row,
                              const Ranked* thresholds, RankedLists lists) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 8;
  if (first >= rows) return;
  const auto query = static_cast<int>(blockIdx.y);
  const Ranked threshold = thresholds[query];
  const __half reach = __float2half_rd(cuda::similarity_of(threshold));
  const uint4 packed = *reinterpret_cast<const uint4*>(scores + query * rows + first);
  const auto* eight = reinterpret_cast<const __half*>(&packed);
  for (int i = 0; i < 8; ++i) {
    if (!__hge(eight[i], reach) || first + i >= rows) continue;
    const Ranked ranked = cuda::ranked_row(__half2float(eight[i]), first_row + first + i);
    if (ranked >= threshold) cuda::append(lists, query, ranked);
  }
}

unsigned grid(int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

}  // namespace

CublasSearch::CublasSearch(int64_t rows, int dim) : rows_(rows), dim_(dim) {
  check(cublasCreate(&handle_));
  vectors_.need(static_cast<size_t>(rows) * static_cast<size_t>(dim) * sizeof(__half));
}

CublasSearch::~CublasSearch() { cublasDestroy(handle_); }

void CublasSearch::set_rows(int64_t first, int64_t count, const float* x) {
  const size_t values = static_cast<size_t>(count) * static_cast<size_t>(dim_);
  staging_.need(values * sizeof(float));
  POLAR_CUDA_CHECK(
      cudaMemcpy(staging_.as<void>(), x, values * sizeof(float), cudaMemcpyHostToDevice));
  to_half<<<grid(static_cast<int64_t>(values)), kThreads>>>(
      staging_.as<float>(), vectors_.as<__half>() + first * dim_, static_cast<int64_t>(values));
  POLAR_CUDA_CHECK_LAUNCH(to_half);
  POLAR_CUDA_CHECK(cudaDeviceSynchronize());
}

void CublasSearch::multiply(int64_t first, int64_t count, int64_t nq) {
  const float one = 1;
  const float zero = 0;
  // Column-major: scores (count × nq) = rowsᵀ (count × dim) · queries (dim × nq).
  check(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, static_cast<int>(count),
                     static_cast<int>(nq), dim_, &one, vectors_.as<__half>() + first * dim_,
                     CUDA_R_16F, dim_, queries_.as<__half>(), CUDA_R_16F, dim_, &zero,
                     scores_.as<__half>(), CUDA_R_16F, static_cast<int>(count), CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT));
}

void CublasSearch::search(int64_t nq, const float* queries, int64_t k, int64_t* ids) {
  const size_t values = static_cast<size_t>(nq) * static_cast<size_t>(dim_);
  queries_.need(values * sizeof(__half));
  staging_.need(values * sizeof(float));
  POLAR_CUDA_CHECK(cudaMemcpyAsync(staging_.as<void>(), queries, values * sizeof(float),
                                   cudaMemcpyHostToDevice));
  to_half<<<grid(static_cast<int64_t>(values)), kThreads>>>(
      staging_.as<float>(), queries_.as<__half>(), static_cast<int64_t>(values));
  const int64_t piece = std::min(rows_, std::max<int64_t>(8192, kPieceScores / nq / 64 * 64));
  scores_.need(static_cast<size_t>(piece * nq) * sizeof(__half) + 64);
  const auto lists_at = static_cast<size_t>(nq) * kListRows;
  const auto groups = static_cast<uint32_t>(kSampleGroups);
  lists_.need((lists_at + static_cast<size_t>(nq) * (groups + 1)) * sizeof(Ranked) +
              static_cast<size_t>(nq) * sizeof(uint32_t));
  best_.need(static_cast<size_t>(nq * k) * sizeof(Ranked));
  auto* maxima = lists_.as<Ranked>() + lists_at;
  Ranked* thresholds = maxima + static_cast<size_t>(nq) * groups;
  auto* counts = reinterpret_cast<uint32_t*>(thresholds + nq);
  const RankedLists lists = {lists_.as<Ranked>(), counts, kListRows};
  POLAR_CUDA_CHECK(cudaMemsetAsync(
      maxima, 0, static_cast<size_t>(nq) * ((groups + 1) * sizeof(Ranked) + sizeof(uint32_t))));
  // Rows are in no order, so that the first ones are a sample.
  const int64_t sampled = std::min(rows_, kSampleGroups * kGroupRows);
  for (int64_t first = 0; first < sampled; first += piece) {
    const int64_t count = std::min(piece, sampled - first);
    multiply(first, count, nq);
    group_maxima<<<dim3(grid(count / kGroupRows + 1), static_cast<unsigned>(nq)), kThreads>>>(
        scores_.as<__half>(), count, first, static_cast<uint32_t>(first / kGroupRows), maxima,
        groups);
  }
  cuda::select_best({maxima, nullptr, groups}, static_cast<int>(nq), k, nullptr, thresholds,
                    nullptr);
  for (int64_t first = 0; first < rows_; first += piece) {
    const int64_t count = std::min(piece, rows_ - first);
    multiply(first, count, nq);
    take_reaching<<<dim3(grid((count + 7) / 8), static_cast<unsigned>(nq)), kThreads>>>(
        scores_.as<__half>(), count, first, thresholds, lists);
  }
  POLAR_CUDA_CHECK_LAUNCH(take_reaching);
  cuda::select_best(lists, static_cast<int>(nq), k, best_.as<Ranked>(), thresholds, nullptr);
  std::vector<Ranked> best(static_cast<size_t>(nq * k));
  std::vector<uint32_t> found_counts(static_cast<size_t>(nq));
  POLAR_CUDA_CHECK(cudaMemcpy(best.data(), best_.as<void>(), best.size() * sizeof(Ranked),
                              cudaMemcpyDeviceToHost));
  POLAR_CUDA_CHECK(cudaMemcpy(found_counts.data(), counts, found_counts.size() * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost));
  overflows_ = std::count_if(found_counts.begin(), found_counts.end(),
                             [](uint32_t n) { return n > kListRows; });
  for (size_t i = 0; i < best.size(); ++i)
    ids[i] = best[i] == 0 ? -1 : static_cast<int64_t>(~static_cast<uint32_t>(best[i]));
}

}  // namespace polarquant::bench
