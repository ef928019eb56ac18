// SPDX-License-Identifier: MIT
// The path of a row's trellis, by half a warp: the path's choices lie in shared memory, 16 bytes a
// pair, until its lanes trace them back, each over a part. A search for the start state comes
// first, and of few pairs one for the best ring, as in TrellisEncoder (src/codec/trellis.cc).
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/trellis_signs.cuh"
#include "cuda/trellis_step.cuh"

namespace polarquant::cuda {

/// Pairs whose choices a lane keeps in one word.
constexpr int kWordPairs = 4;
constexpr int kWordStride = kHalfWarp;  // words of a row's kWordPairs pairs

__host__ __device__ constexpr uint32_t div_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/// A row's part of shared memory.
struct RowScratch {
  uint32_t costs_bytes;  // before and after a pair; later the path's windows
  uint32_t points_bytes;
  uint32_t trail_bytes;

  __host__ __device__ RowScratch(int cost_stride, int pairs)
      : costs_bytes(2 * static_cast<uint32_t>(cost_stride) * sizeof(float)),
        points_bytes(kHalfWarp * sizeof(float2)),
        trail_bytes(div_up(static_cast<uint32_t>(pairs), kWordPairs) * kWordStride * 4) {
    const uint32_t windows_bytes = div_up(static_cast<uint32_t>(pairs), 16) * 16;
    costs_bytes = costs_bytes < windows_bytes ? windows_bytes : costs_bytes;
  }
  __host__ __device__ uint32_t bytes() const {
    // A warp's two rows lie half of the banks apart.
    constexpr uint32_t kBanks = 128;
    return div_up(costs_bytes + points_bytes + trail_bytes, kBanks) * kBanks + kBanks / 2;
  }
};

template <int kStep>
class RowSearch {
 public:
  using Step = TrellisStep<kStep>;

  /// u: the part's coordinates; scales: those of its segments, or null.
  __device__ RowSearch(const EncodePart& part, const float* u, const float* scales,
                       uint8_t* scratch)
      : part_(part), scales_(scales), u_(u), lane_(threadIdx.x % kHalfWarp) {
    const RowScratch sizes(Step::kCostStride, part.pairs);
    costs_ = reinterpret_cast<float*>(scratch);
    windows_ = scratch;
    points_ = reinterpret_cast<float2*>(scratch + sizes.costs_bytes);
    trail_ = reinterpret_cast<uint32_t*>(scratch + sizes.costs_bytes + sizes.points_bytes);
    load_cells();
  }

  /// The windows of the row's path; all lanes of the warp take part. kExact: of the best ring.
  template <bool kExact>
  __device__ const uint8_t* search() {
    if constexpr (kExact) {
      return search_best_ring();
    } else {
      return search_warmed_up();
    }
  }

 private:
  __device__ const uint8_t* search_warmed_up() {
    const int reach = min(kWarmupPairs, part_.pairs);
    Step::start(costs_, lane_);
    __syncwarp();
    int state = 0;
    // Up to the ring's joint, on after it, and round. One loop, so that the code of a pass is there
    // once: three copies exceed the instruction cache (docs/dev/tuning.md, "CUDA").
#pragma unroll 1
    for (int pass = 0; pass < 3; ++pass) {
      const int count = pass == 2 ? part_.pairs : reach;
      advance(pass == 0 ? part_.pairs - reach : 0, count);
      if (pass == 0) continue;
      if (pass == 1) state = least_state();
      // Costs are no longer needed, and windows take their place.
      __syncwarp();
      state = trace(count, state);
      __syncwarp();
      if (pass == 1) Step::start(costs_, lane_, state);
      __syncwarp();
    }
    return windows_;
  }

  /// TrellisEncoder::encode_best_ring: laps from one state after the other, those first that a lap
  /// from anywhere reached at the least cost, until no other can be better.
  __device__ const uint8_t* search_best_ring() {
    constexpr int kOwnStates = Step::kStates > kHalfWarp ? Step::kStates / kHalfWarp : 1;
    const int pairs = part_.pairs;
    // After an odd number of pairs.
    const float* const ends = costs_ + (pairs % 2 != 0 ? Step::kCostStride : 0);
    float bounds[kOwnStates];  // of the lane's states that were not tried
    float best = INFINITY;
    uint8_t windows[2] = {0, 0};  // the best ring's, of pairs lane and 16 + lane
    int state = -1;
    bool is_done = false;
    Step::start(costs_, lane_);
    __syncwarp();
    // A warp's rows go on until both are done.
#pragma unroll 1
    while (true) {
      advance(0, pairs);
      if (state < 0) {
#pragma unroll
        for (int i = 0; i < kOwnStates; ++i)
          bounds[i] =
              lane_ + kHalfWarp * i < Step::kStates ? ends[lane_ + kHalfWarp * i] : INFINITY;
      } else {
        const float cost = ends[state];
        const bool is_better = !is_done && cost < best;
        if (__any_sync(~0U, is_better)) {
          // Windows take the place of costs.
          __syncwarp();
          trace(pairs, state);
          __syncwarp();
          if (is_better) {
            best = cost;
            windows[0] = windows_[lane_];
            windows[1] = windows_[kHalfWarp + lane_];
          }
        }
      }
      unsigned long long least = ~0ULL;
#pragma unroll
      for (int i = 0; i < kOwnStates; ++i) least = earlier(least, bounds[i], lane_ + kHalfWarp * i);
      least = least_of_half_warp(least);
      state = static_cast<int>(least & 0xffffffffU);
      is_done = is_done || !(__uint_as_float(static_cast<uint32_t>(least >> 32)) < best);
      if (__all_sync(~0U, is_done)) break;
#pragma unroll
      for (int i = 0; i < kOwnStates; ++i) {
        if (state == lane_ + kHalfWarp * i) bounds[i] = INFINITY;
      }
      __syncwarp();
      Step::start(costs_, lane_, state);
      __syncwarp();
    }
    __syncwarp();
    windows_[lane_] = windows[0];
    windows_[kHalfWarp + lane_] = windows[1];
    __syncwarp();
    return windows_;
  }

  __device__ void load_cells() {
#pragma unroll
    for (int i = 0; i < kLaneWindows; ++i) {
      cells_.x[i] = part_.cell_x[Step::window(lane_, i)];
      cells_.y[i] = part_.cell_y[Step::window(lane_, i)];
    }
  }
  /// The coded part of a coordinate.
  __device__ float coded(float value) const { return part_.has_signs != 0 ? fabsf(value) : value; }
  __device__ float2 point(int pair) const {
    if (pair >= part_.pairs) return {0, 0};
    const int start = pair / kSegmentPairs * kSegmentDims;
    const int count = min(kSegmentDims, part_.dim - start);
    const int half = (count + 1) / 2;
    const int in_segment = pair % kSegmentPairs;
    const bool has_y = in_segment < count - half;
    const float x = u_[start + in_segment];
    const float y = has_y ? u_[start + half + in_segment] : 0.0F;
    if (scales_ == nullptr) return {x, y};
    const float scale = scales_[pair / kSegmentPairs];
    return {x / scale, y / scale};
  }

  __device__ void advance_pair(float x, float y, const float* before, float* after,
                               uint32_t* choices) {
    Step::advance(cells_, x, y, lane_, before, after, choices);
    __syncwarp();
  }

  /// Advances over pairs first … first+count−1, from costs_ to costs_; the trail has pairs from 0
  /// on.
  __device__ void advance(int first, int count) {
    float* const other = costs_ + Step::kCostStride;
    const int end = first + count;
    // Where the last pair has no second coordinate, that distance does not count.
    const int whole_end = part_.dim % 2 != 0 && end == part_.pairs ? end - 1 : end;
    float2 next = point(first + lane_);
#pragma unroll 1
    for (int chunk = first; chunk < end; chunk += kHalfWarp) {
      points_[lane_] = {coded(next.x), coded(next.y)};
      __syncwarp();
      // Loaded a chunk ahead, and used only then.
      next = point(chunk + kHalfWarp + lane_);
      const auto* two = reinterpret_cast<const float4*>(points_);
      uint32_t* word = trail_ + chunk / kWordPairs * kWordStride + lane_;
      const int whole_words = min(kHalfWarp, whole_end - chunk) / kWordPairs;
#pragma unroll 1
      for (int left = whole_words; left > 0; --left) {
        const float4 low = two[0];
        const float4 high = two[1];
        uint32_t choices = 0;
        advance_pair(low.x, low.y, costs_, other, &choices);
        advance_pair(low.z, low.w, other, costs_, &choices);
        advance_pair(high.x, high.y, costs_, other, &choices);
        advance_pair(high.z, high.w, other, costs_, &choices);
        *word = choices;
        two += kWordPairs / 2;
        word += kWordStride;
      }
      const int at = whole_words * kWordPairs;
      if (at < min(kHalfWarp, end - chunk))
        *word = advance_last(points_ + at, end - chunk - at, whole_end - chunk - at);
    }
    __syncwarp();
  }
  /// Advances over a pass's last few pairs, of which the first `whole` have two coordinates. After
  /// an odd number costs are in the other buffer, but then the state is known.
  __device__ uint32_t advance_last(const float2* points, int count, int whole) {
    static_assert(kWarmupPairs % kWordPairs == 0);
    float* before = costs_;
    float* after = costs_ + Step::kCostStride;
    uint32_t choices = 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      if (i == whole) {
#pragma unroll
        for (float& cell_y : cells_.y) cell_y = 0;
      }
      advance_pair(points[i].x, points[i].y, before, after, &choices);
      float* const swapped = before;
      before = after;
      after = swapped;
    }
    if (whole < count) load_cells();
    return choices << (8 * (kWordPairs - count));
  }

  /// Costs are not negative, so that they sort like their bits; of equal ones the lower state.
  __device__ static unsigned long long earlier(unsigned long long least, float cost, int state) {
    const unsigned long long mine =
        static_cast<unsigned long long>(__float_as_uint(cost)) << 32 | static_cast<unsigned>(state);
    return mine < least ? mine : least;
  }
  __device__ static unsigned long long least_of_half_warp(unsigned long long least) {
    for (int apart = 1; apart < kHalfWarp; apart *= 2) {
      const unsigned long long other = __shfl_xor_sync(~0U, least, apart);
      least = other < least ? other : least;
    }
    return least;
  }
  /// The lowest state of least cost.
  __device__ int least_state() const {
    unsigned long long least = ~0ULL;
    for (int state = lane_; state < Step::kStates; state += kHalfWarp)
      least = earlier(least, costs_[state], state);
    return static_cast<int>(least_of_half_warp(least) & 0xffffffffU);
  }

  /// Goes back over pairs count−1 … 0 from the state after them; returns the state before the
  /// first.
  ///
  /// Every lane goes back over a part of its own, from a guess of the state after it, and again
  /// until the guess is where the next lane's way began: paths meet within a few pairs, so that
  /// twice is mostly enough. One lane alone would take far longer (docs/dev/tuning.md, "CUDA").
  __device__ int trace(int count, int state) {
    const int words = static_cast<int>(div_up(static_cast<uint32_t>(count), kWordPairs));
    const int part = static_cast<int>(div_up(static_cast<uint32_t>(words), kHalfWarp)) * kWordPairs;
    const int first = lane_ * part;
    const int end = min(first + part, count);
    int from = state;
    int begin = state;
    bool is_wrong = true;
    while (__any_sync(~0U, is_wrong)) {
      begin = trace_part(first, end, from);
      int known = __shfl_down_sync(~0U, begin, 1, kHalfWarp);
      if (end == count || lane_ == kHalfWarp - 1) known = state;
      is_wrong = known != from;
      from = known;
    }
    return __shfl_sync(~0U, begin, 0, kHalfWarp);
  }
  __device__ int trace_part(int first, int end, int state) {
    const auto* choices = reinterpret_cast<const uint8_t*>(trail_);
#pragma unroll 4
    for (int pair = end - 1; pair >= first; --pair) {
      const uint32_t chosen = choices[(pair / kWordPairs * kWordStride + Step::lane_of(state)) * 4 +
                                      (kWordPairs - 1 - pair % kWordPairs)];
      const int window = state << kStep | Step::branch(chosen, state);
      windows_[pair] = static_cast<uint8_t>(window);
      state = window & (Step::kStates - 1);
    }
    return state;
  }

  const EncodePart& part_;
  const float* scales_;
  const float* u_;
  int lane_;
  float* costs_;  // before a pair, then those after it
  uint8_t* windows_;
  float2* points_;
  uint32_t* trail_;
  LaneCells cells_;
};

}  // namespace polarquant::cuda
