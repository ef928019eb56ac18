// SPDX-License-Identifier: MIT
// Radix select, a thread block a list: eight bits of the k-th best entry a pass, by counting
// entries that begin with the bits known so far. Entries are all different, so that exactly one is
// the k-th.
#include "cuda/cuda_check.h"
#include "cuda/row_terms.cuh"
#include "cuda/select_best.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

struct Selection {
  uint32_t counts[kDigits];
  unsigned long long prefix;  // the known bits of the k-th best
  unsigned long long wanted;  // its rank among the entries that have them
  int known_bits;
  uint32_t written;
  bool found;
};

/// Called by the first warp: finds the digit of the wanted entry, from the largest down.
__device__ void take_digit(Selection* selection) {
  const int lane = threadIdx.x;
  constexpr int kPerLane = kDigits / 32;
  // Lane 0 has the largest digits.
  const int top = kDigits - 1 - lane * kPerLane;
  unsigned long long sum = 0;
  for (int i = 0; i < kPerLane; ++i) sum += selection->counts[top - i];
  unsigned long long before = sum;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned long long other = __shfl_up_sync(~0U, before, distance);
    if (lane >= distance) before += other;
  }
  const unsigned long long all = __shfl_sync(~0U, before, 31);
  before -= sum;
  const unsigned long long wanted = selection->wanted;
  __syncwarp();
  if (all < wanted) {
    // Fewer entries than k: all are taken.
    if (lane == 0) selection->found = true;
    return;
  }
  if (wanted > before && wanted <= before + sum) {
    for (int i = 0; i < kPerLane; ++i) {
      const uint32_t count = selection->counts[top - i];
      if (wanted <= before + count) {
        selection->prefix = selection->prefix << kDigitBits | static_cast<unsigned>(top - i);
        selection->wanted = wanted - before;
        selection->known_bits += kDigitBits;
        return;
      }
      before += count;
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    select_best_kernel(RankedLists lists, unsigned long long k, Ranked* best, Ranked* thresholds) {
  __shared__ Selection selection;
  const size_t q = blockIdx.x;
  const Ranked* entries = lists.entries + q * lists.capacity;
  const uint32_t count =
      lists.counts != nullptr ? min(lists.counts[q], lists.capacity) : lists.capacity;
  if (threadIdx.x == 0) {
    selection.prefix = 0;
    selection.wanted = k;
    selection.known_bits = 0;
    selection.written = 0;
    selection.found = false;
  }
  for (int pass = 0; pass < 64 / kDigitBits; ++pass) {
    for (int i = threadIdx.x; i < kDigits; i += kThreads) selection.counts[i] = 0;
    __syncthreads();
    const int known = selection.known_bits;
    const unsigned long long prefix = selection.prefix;
    const int shift = 64 - kDigitBits - known;
    for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
      const Ranked entry = entries[i];
      if (entry == 0 || (known > 0 && entry >> (64 - known) != prefix)) continue;
      atomicAdd(&selection.counts[entry >> shift & (kDigits - 1)], 1U);
    }
    __syncthreads();
    if (threadIdx.x < 32) take_digit(&selection);
    __syncthreads();
    if (selection.found) break;
  }
  const Ranked kth = selection.found ? 0 : selection.prefix;
  if (threadIdx.x == 0 && thresholds != nullptr && kth > thresholds[q]) thresholds[q] = kth;
  if (best == nullptr) return;
  Ranked* out = best + q * k;
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
    const Ranked entry = entries[i];
    if (entry == 0 || entry < kth) continue;
    out[atomicAdd(&selection.written, 1U)] = entry;
  }
  __syncthreads();
  for (unsigned long long i = selection.written + threadIdx.x; i < k; i += kThreads) out[i] = 0;
}

__global__ void __launch_bounds__(kThreads)
    count_reaching_kernel(RankedLists lists, const Ranked* thresholds, uint32_t* reaching) {
  const size_t q = blockIdx.y;
  const Ranked* entries = lists.entries + q * lists.capacity;
  const uint32_t count = min(lists.counts[q], lists.capacity);
  const float reach = similarity_of(thresholds[q]);
  uint32_t mine = 0;
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads)
    mine += similarity_of(entries[i]) >= reach ? 1U : 0U;
  mine = __reduce_add_sync(~0U, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(&reaching[q], mine);
}

}  // namespace

void select_best(const RankedLists& lists, int nq, int64_t k, Ranked* best, Ranked* thresholds,
                 cudaStream_t stream) {
  select_best_kernel<<<static_cast<unsigned>(nq), kThreads, 0, stream>>>(
      lists, static_cast<unsigned long long>(k), best, thresholds);
  POLAR_CUDA_CHECK_LAUNCH(select_best_kernel);
}

void count_reaching(const RankedLists& lists, int nq, const Ranked* thresholds, uint32_t* reaching,
                    cudaStream_t stream) {
  constexpr unsigned kCountingBlocks = 64;
  count_reaching_kernel<<<dim3(kCountingBlocks, static_cast<unsigned>(nq)), kThreads, 0, stream>>>(
      lists, thresholds, reaching);
  POLAR_CUDA_CHECK_LAUNCH(count_reaching_kernel);
}

}  // namespace polarquant::cuda
