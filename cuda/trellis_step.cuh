// SPDX-License-Identifier: MIT
// One pair of the Viterbi search (src/codec/trellis.h) by half a warp: each lane has 16 of the 256
// windows, with their cells in registers. Costs are sums of the plain code's floats in its order,
// and ties go to the same windows, so that the path is the same.
#pragma once

#include <cstdint>

#include "cuda/encode_view.h"
#include "cuda/half_warp.cuh"

namespace polarquant::cuda {

inline constexpr int kLaneWindows = kCells / kHalfWarp;

__host__ __device__ constexpr int trellis_states(int step) { return 1 << (kWindowBits - step); }

/// The cells of a lane's windows, in the order in which it looks at them.
struct LaneCells {
  float x[kLaneWindows];
  float y[kLaneWindows];

  __device__ float distance(int i, float px, float py) const {
    const float dx = px - x[i];
    const float dy = py - y[i];
    return dx * dx + dy * dy;
  }
};

/// The least of 2^kBits totals, the first of equal ones; bit b of its number is the sign of
/// bits[b].
template <int kBits>
struct Least {
  float total;
  int32_t bits[kBits > 0 ? kBits : 1];
};
template <int kBits>
__device__ inline Least<kBits> least_of(const float* totals) {
  Least<kBits> least;
  if constexpr (kBits == 0) {
    least.total = totals[0];
    least.bits[0] = 0;
  } else {
    constexpr int kTop = kBits - 1;
    const Least<kTop> low = least_of<kTop>(totals);
    const Least<kTop> high = least_of<kTop>(totals + (1 << kTop));
    // Negative exactly where the other is less; of two infinite ones either will do.
    const int32_t other = __float_as_int(high.total - low.total);
    least.total = fminf(low.total, high.total);
    least.bits[kTop] = other;
#pragma unroll
    for (int b = 0; b < kTop; ++b) least.bits[b] = (other & high.bits[b]) | (~other & low.bits[b]);
  }
  return least;
}

/// Codes of up to 4 bits a pair: lane j has states j + 16m, each of 2^kStep windows. Costs of all
/// states lie in shared memory.
template <int kStep, bool kParallel = (kStep > 4)>
class TrellisStep {
 public:
  static constexpr int kStates = trellis_states(kStep);
  static constexpr int kBranches = 1 << kStep;
  static constexpr int kLaneStates = kStates / kHalfWarp;
  static constexpr int kChoiceBits = kLaneStates * kStep;  // for each lane
  static_assert(kChoiceBits <= 8);
  static constexpr int kCostStride = kStates;  // floats of a row's costs

  __device__ static int window(int lane, int i) {
    return (lane + kHalfWarp * (i / kBranches)) << kStep | i % kBranches;
  }

  /// Every state costs 0, or only `state`.
  __device__ static void start(float* costs, int lane) {
#pragma unroll
    for (int m = 0; m < kLaneStates; ++m) costs[lane + kHalfWarp * m] = 0;
  }
  __device__ static void start(float* costs, int lane, int state) {
#pragma unroll
    for (int m = 0; m < kLaneStates; ++m)
      costs[lane + kHalfWarp * m] = lane + kHalfWarp * m == state ? 0.0F : INFINITY;
  }

  /// Makes the costs after a pair from those before it. `choices` gets the lane's 8 bits.
  __device__ static void advance(const LaneCells& cells, float x, float y, int lane,
                                 const float* before, float* after, uint32_t* choices) {
    // States 2^(8−2·step) or more apart are reached from the same ones.
    constexpr int kGroups = kLaneStates > kBranches ? kLaneStates / kBranches : 1;
    float costs[kGroups][kBranches];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const float* from = before + (((lane + kHalfWarp * g) << kStep) & (kStates - 1));
      if constexpr (kBranches == 2) {
        const float2 two = *reinterpret_cast<const float2*>(from);
        costs[g][0] = two.x;
        costs[g][1] = two.y;
      } else {
#pragma unroll
        for (int b = 0; b < kBranches; b += 4) {
          const float4 four = *reinterpret_cast<const float4*>(from + b);
          costs[g][b] = four.x;
          costs[g][b + 1] = four.y;
          costs[g][b + 2] = four.z;
          costs[g][b + 3] = four.w;
        }
      }
    }
    uint32_t chosen = *choices << (8 - kChoiceBits);
#pragma unroll
    for (int m = kLaneStates - 1; m >= 0; --m) {
      float totals[kBranches];
#pragma unroll
      for (int b = 0; b < kBranches; ++b)
        totals[b] = costs[m % kGroups][b] + cells.distance(m * kBranches + b, x, y);
      const Least<kStep> least = least_of<kStep>(totals);
      after[lane + kHalfWarp * m] = least.total;
#pragma unroll
      for (int b = kStep - 1; b >= 0; --b)
        chosen = __funnelshift_l(static_cast<uint32_t>(least.bits[b]), chosen, 1);
    }
    *choices = chosen;
  }

  /// The choice of `advance` for a state, from its lane's 8 bits.
  __device__ static int lane_of(int state) { return state % kHalfWarp; }
  __device__ static int branch(uint32_t choices, int state) {
    return static_cast<int>(choices >> (state / kHalfWarp * kStep)) & (kBranches - 1);
  }
};

/// Codes of more bits: as many lanes as there are windows share a state, and the nearest of
/// parallel windows is found before costs are read.
template <int kStep>
class TrellisStep<kStep, true> {
 public:
  static constexpr int kStates = trellis_states(kStep);
  static constexpr int kParallel = (1 << kStep) / kStates;
  static constexpr int kStateLanes = kHalfWarp / kStates;
  static constexpr int kLaneSources = kStates > kStateLanes ? kStates / kStateLanes : 1;
  static constexpr int kLaneNumbers = kLaneWindows / kLaneSources;
  /// Lanes that have windows of the same state from the same source.
  static constexpr int kSourceLanes = kParallel / kLaneNumbers;
  static constexpr int kCostStride = kHalfWarp;

  __device__ static int first_source(int lane) {
    return lane % kStateLanes / kSourceLanes * kLaneSources;
  }
  __device__ static int first_number(int lane) {
    return lane % kStateLanes % kSourceLanes * kLaneNumbers;
  }
  __device__ static int window(int lane, int i) {
    const int source = first_source(lane) + i / kLaneNumbers;
    const int number = first_number(lane) + i % kLaneNumbers;
    return lane / kStateLanes << kStep | (number * kStates + source);
  }

  __device__ static void start(float* costs, int lane) { costs[lane / kStateLanes] = 0; }
  __device__ static void start(float* costs, int lane, int state) {
    costs[lane / kStateLanes] = lane / kStateLanes == state ? 0.0F : INFINITY;
  }

  __device__ static void advance(const LaneCells& cells, float x, float y, int lane,
                                 const float* before, float* after, uint32_t* choices) {
    constexpr uint32_t kNumberMask = kParallel - 1;
    float least = INFINITY;
    uint32_t branch = 0;
#pragma unroll
    for (int s = 0; s < kLaneSources; ++s) {
      uint32_t nearest = ~0U;
#pragma unroll
      for (int i = 0; i < kLaneNumbers; ++i) {
        const uint32_t distance = __float_as_uint(cells.distance(s * kLaneNumbers + i, x, y));
        nearest =
            min(nearest, (distance & ~kNumberMask) | static_cast<uint32_t>(first_number(lane) + i));
      }
#pragma unroll
      for (int apart = 1; apart < kSourceLanes; apart *= 2)
        nearest = min(nearest, __shfl_xor_sync(~0U, nearest, apart));
      const int source = first_source(lane) + s;
      const float total = before[source] + __uint_as_float(nearest & ~kNumberMask);
      if (total < least) {
        least = total;
        branch = (nearest & kNumberMask) * kStates + static_cast<uint32_t>(source);
      }
    }
    // Sources rise with lanes: of equal ones the lower lane's is taken.
#pragma unroll
    for (int apart = kSourceLanes; apart < kStateLanes; apart *= 2) {
      const float other = __shfl_xor_sync(~0U, least, apart);
      const uint32_t other_branch = __shfl_xor_sync(~0U, branch, apart);
      const bool is_lower = (lane & apart) != 0;
      if (other < least || (other == least && is_lower)) {
        least = other;
        branch = other_branch;
      }
    }
    after[lane / kStateLanes] = least;
    *choices = *choices << 8 | branch;
  }

  __device__ static int lane_of(int state) { return state * kStateLanes; }
  __device__ static int branch(uint32_t choices, int state) {
    (void)state;
    return static_cast<int>(choices & 255);
  }
};

}  // namespace polarquant::cuda
