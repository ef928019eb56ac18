// SPDX-License-Identifier: MIT
// A product of two matrices whose sums have a stated order, so that matrix instructions are of no
// use: half a warp has 16 interleaved sums of some queries and some centroids, all in registers.
#include "cuda/coarse_scores.h"
#include "cuda/cuda_check.h"
#include "cuda/half_warp.cuh"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kHalves = kThreads / kHalfWarp;
/// The tile of half a warp, where there are so many of both that the device is full.
constexpr int kTileQueries = 8;
constexpr int kTileLists = 8;
constexpr int64_t kFullBlocks = 256;

template <int kQueries, int kLists, bool kIsL2>
__global__ void __launch_bounds__(kThreads, 2)
    coarse_scores_kernel(ListsView lists, int dim, int nq, const float* queries, Ranked* ranked) {
  const int lane = threadIdx.x % kHalfWarp;
  const int64_t first_list =
      (static_cast<int64_t>(blockIdx.x) * kHalves + threadIdx.x / kHalfWarp) * kLists;
  if (first_list >= lists.count) return;
  const int first_query = static_cast<int>(blockIdx.y) * kQueries;
  // Beyond the last one the last is taken again.
  const float* query[kQueries];
  const float* centroid[kLists];
#pragma unroll
  for (int q = 0; q < kQueries; ++q)
    query[q] = queries + static_cast<size_t>(min(first_query + q, nq - 1)) * dim;
#pragma unroll
  for (int l = 0; l < kLists; ++l)
    centroid[l] = lists.centroids + min(first_list + l, lists.count - 1) * dim;
  // Query q's with list l is q·kLists + l.
  float sums[kQueries * kLists] = {};
#pragma unroll 2
  for (int j = lane; j < dim; j += kHalfWarp) {
    float x[kQueries];
#pragma unroll
    for (int q = 0; q < kQueries; ++q) x[q] = query[q][j];
#pragma unroll
    for (int l = 0; l < kLists; ++l) {
      const float c = centroid[l][j];
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        if constexpr (kIsL2) {
          const float difference = x[q] - c;
          sums[q * kLists + l] += difference * difference;
        } else {
          sums[q * kLists + l] += x[q] * c;
        }
      }
    }
  }
  half_warp_sums(sums);
  constexpr int kLaneSums = (kQueries * kLists + kHalfWarp - 1) / kHalfWarp;
#pragma unroll
  for (int i = 0; i < kLaneSums; ++i) {
    const int at = lane * kQueries * kLists / kHalfWarp + i;
    const int query_number = first_query + at / kLists;
    const int64_t list = first_list + at % kLists;
    if (query_number >= nq || list >= lists.count) continue;
    const float similarity = kIsL2 ? -sums[i] : sums[i];
    ranked[static_cast<size_t>(query_number) * lists.count + list] =
        ranked_row(isnan(similarity) ? -INFINITY : similarity, list);
  }
}

template <int kQueries, int kLists>
void launch(const ListsView& lists, int dim, int nq, const float* queries, Ranked* ranked,
            cudaStream_t stream) {
  const auto tiles =
      static_cast<unsigned>((lists.count + kHalves * kLists - 1) / (kHalves * kLists));
  const dim3 grid(tiles, static_cast<unsigned>((nq + kQueries - 1) / kQueries));
  if (lists.coarse_is_l2 != 0) {
    coarse_scores_kernel<kQueries, kLists, true>
        <<<grid, kThreads, 0, stream>>>(lists, dim, nq, queries, ranked);
  } else {
    coarse_scores_kernel<kQueries, kLists, false>
        <<<grid, kThreads, 0, stream>>>(lists, dim, nq, queries, ranked);
  }
  POLAR_CUDA_CHECK_LAUNCH(coarse_scores_kernel);
}

}  // namespace

void coarse_scores(const ListsView& lists, int dim, int nq, const float* queries, Ranked* ranked,
                   cudaStream_t stream) {
  const int64_t blocks = nq / kTileQueries * (lists.count / (kHalves * kTileLists));
  if (nq < kTileQueries) {
    launch<1, 1>(lists, dim, nq, queries, ranked, stream);
  } else if (blocks < kFullBlocks) {
    launch<kTileQueries, 1>(lists, dim, nq, queries, ranked, stream);
  } else {
    launch<kTileQueries, kTileLists>(lists, dim, nq, queries, ranked, stream);
  }
}

}  // namespace polarquant::cuda
