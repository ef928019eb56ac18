// SPDX-License-Identifier: MIT
// Half a warp codes a row: the path's choices lie in shared memory, 16 bytes a pair, until its
// lanes trace them back, each over a part. A search for the start state comes first, as in
// TrellisEncoder (src/codec/trellis.cc); this kernel does not code rings of up to 32 pairs, which
// TrellisEncoder searches in another way.
#include <algorithm>

#include <cuda_fp16.h>

#include "cuda/cuda_check.h"
#include "cuda/shared_limit.h"
#include "cuda/trellis_encode.h"
#include "cuda/trellis_signs.cuh"
#include "cuda/trellis_step.cuh"
#include "cuda/wide_floats.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kMostWarps = 4;
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

int cost_stride_of(int step) {
  return std::max(kHalfWarp, trellis_states(step));  // TrellisStep::kCostStride
}

template <int kStep>
class RowSearch {
 public:
  using Step = TrellisStep<kStep>;

  __device__ RowSearch(const EncodeView& view, const float* u, uint8_t* scratch)
      : view_(view), u_(u), lane_(threadIdx.x % kHalfWarp) {
    const RowScratch sizes(Step::kCostStride, view.pairs);
    costs_ = reinterpret_cast<float*>(scratch);
    windows_ = scratch;
    points_ = reinterpret_cast<float2*>(scratch + sizes.costs_bytes);
    trail_ = reinterpret_cast<uint32_t*>(scratch + sizes.costs_bytes + sizes.points_bytes);
    load_cells();
  }

  /// The windows of the row's path; all lanes of the warp take part.
  __device__ const uint8_t* search() {
    const int reach = min(kWarmupPairs, view_.pairs);
    Step::start(costs_, lane_);
    __syncwarp();
    int state = 0;
    // Up to the ring's joint, on after it, and round. One loop, so that the code of a pass is there
    // once: three copies exceed the instruction cache (docs/dev/tuning.md, "CUDA").
#pragma unroll 1
    for (int pass = 0; pass < 3; ++pass) {
      const int count = pass == 2 ? view_.pairs : reach;
      advance(pass == 0 ? view_.pairs - reach : 0, count);
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

 private:
  __device__ void load_cells() {
#pragma unroll
    for (int i = 0; i < kLaneWindows; ++i) {
      cells_.x[i] = view_.cell_x[Step::window(lane_, i)];
      cells_.y[i] = view_.cell_y[Step::window(lane_, i)];
    }
  }
  /// The coded part of a coordinate.
  __device__ float coded(float value) const { return view_.has_signs != 0 ? fabsf(value) : value; }
  __device__ float2 point(int pair) const {
    if (pair >= view_.pairs) return {0, 0};
    const int start = pair / kSegmentPairs * kSegmentDims;
    const int count = min(kSegmentDims, view_.dim - start);
    const int half = (count + 1) / 2;
    const int in_segment = pair % kSegmentPairs;
    const bool has_y = in_segment < count - half;
    return {u_[start + in_segment], has_y ? u_[start + half + in_segment] : 0.0F};
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
    const int whole_end = view_.dim % 2 != 0 && end == view_.pairs ? end - 1 : end;
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

  /// The lowest state of least cost.
  __device__ int least_state() const {
    unsigned long long least = ~0ULL;
    for (int state = lane_; state < Step::kStates; state += kHalfWarp) {
      // Costs are not negative, so that they sort like their bits.
      const unsigned long long mine =
          static_cast<unsigned long long>(__float_as_uint(costs_[state])) << 32 |
          static_cast<unsigned>(state);
      least = mine < least ? mine : least;
    }
    for (int apart = 1; apart < kHalfWarp; apart *= 2) {
      const unsigned long long other = __shfl_xor_sync(~0U, least, apart);
      least = other < least ? other : least;
    }
    return static_cast<int>(least & 0xffffffffU);
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

  const EncodeView& view_;
  const float* u_;
  int lane_;
  float* costs_;  // before a pair, then those after it
  uint8_t* windows_;
  float2* points_;
  uint32_t* trail_;
  LaneCells cells_;
};

/// pack_windows.
template <int kStep>
__device__ void write_ring(const EncodeView& view, const uint8_t* windows, uint8_t* ring) {
  for (int group8 = threadIdx.x % kHalfWarp; 8 * group8 < view.pairs; group8 += kHalfWarp) {
    const int count = min(8, view.pairs - 8 * group8);
    unsigned long long bits = 0;
    for (int i = 0; i < count; ++i) {
      const unsigned long long own = windows[8 * group8 + i] >> (kWindowBits - kStep);
      bits |= own << (i * kStep);
    }
    for (int bit = 0; bit < count * kStep; bit += 8)
      ring[group8 * kStep + bit / 8] = static_cast<uint8_t>(bits >> bit);
  }
}

/// store_factors: returns whether they fit their form.
__device__ bool store_factors(const EncodeView& view, double scale, double bias, uint8_t* to) {
  constexpr float kHalfMin = 0x1p-16F;
  constexpr float kHalfMax = 65504.0F;
  constexpr float kWideMin = 0x1p-63F;
  constexpr float kWideMax = 0x1p64F - 0x1p54F;
  constexpr float kFloatMin = 0x1p-126F;
  constexpr float kFloatMax = 3.402823466e38F;
  const float stored_scale = __fdiv_rn(static_cast<float>(scale), view.scale_unit);
  const float stored_bias = __fdiv_rn(static_cast<float>(bias), view.bias_unit);
  const bool half = view.factor_form == FactorForm::float16;
  const bool wide = view.factor_form == FactorForm::wide16;
  const float least = half ? kHalfMin : wide ? kWideMin : kFloatMin;
  const float most = half ? kHalfMax : wide ? kWideMax : kFloatMax;
  const bool fits = stored_scale == 0 || (stored_scale >= least && stored_scale <= most);
  if (!fits || !(fabsf(stored_bias) <= most)) return false;
  uint32_t words[2] = {__float_as_uint(stored_scale), __float_as_uint(stored_bias)};
  if (half)
    words[0] = __half_as_ushort(__float2half_rn(stored_scale)) |
               static_cast<uint32_t>(__half_as_ushort(__float2half_rn(stored_bias))) << 16;
  if (wide && !to_wide_factors(stored_scale, stored_bias, view.is_l2 == 0, &words[0])) return false;
  for (int i = 0; i < (half || wide ? 4 : 8); ++i)
    to[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
  return true;
}

template <int kStep>
__global__ void __launch_bounds__(kMostWarps * 32)
    trellis_encode_kernel(const __grid_constant__ EncodeView view, int64_t n, const float* u,
                          const RowLength* lengths, int64_t first_row, uint8_t* codes,
                          Refused* refused) {
  extern __shared__ __align__(16) uint8_t shared[];
  auto* cells = reinterpret_cast<float2*>(shared);
  for (int i = threadIdx.x; i < kCells; i += blockDim.x)
    cells[i] = {view.cell_x[i], view.cell_y[i]};
  __syncthreads();
  const int rows = static_cast<int>(blockDim.x) / kHalfWarp;
  const int in_block = static_cast<int>(threadIdx.x) / kHalfWarp;
  const int lane = threadIdx.x % kHalfWarp;
  const RowScratch sizes(TrellisStep<kStep>::kCostStride, view.pairs);
  uint8_t* scratch = shared + kCells * sizeof(float2) + in_block * sizes.bytes();
  const int64_t own = static_cast<int64_t>(blockIdx.x) * rows + in_block;
  // A warp may have no second row: its lanes then repeat the last one, and write nothing.
  const int64_t row = min(own, n - 1);
  const float* row_values = u + row * view.dim;
  RowSearch<kStep> search(view, row_values, scratch);
  const uint8_t* windows = search.search();
  const RowLength length = lengths[row];
  const bool is_code = length.norm != 0;
  uint8_t* code = codes + row * view.row_bytes;
  const double along = write_signs(view, {row_values, windows, cells, view.has_signs != 0},
                                   own < n && is_code, code);
  if (own >= n) return;
  if (!is_code) {
    for (uint32_t i = lane; i < view.row_bytes; i += kHalfWarp) code[i] = 0;
    return;
  }
  write_ring<kStep>(view, windows, code + view.sign_bytes);
  if (lane != 0) return;
  const double alignment = fmax(along / view.dim, view.least_alignment);
  const double scale =
      fmin(length.norm / (view.root_dim * alignment), static_cast<double>(view.max_scale));
  if (!store_factors(view, scale, length.bias, code + view.code_bytes))
    atomicMin(refused, static_cast<Refused>(first_row + row) << kRefusalBits |
                           static_cast<Refused>(Refusal::factors));
}

int warps_of(const EncodeView& view, size_t most_shared_bytes) {
  const RowScratch sizes(cost_stride_of(view.step_bits), view.pairs);
  const size_t left = most_shared_bytes - kCells * sizeof(float2);
  return static_cast<int>(std::min<size_t>(kMostWarps, left / (2 * size_t{sizes.bytes()})));
}

template <int kStep>
void launch(const EncodeView& view, int64_t n, const float* u, const RowLength* lengths,
            int64_t first_row, uint8_t* codes, Refused* refused, size_t most_shared_bytes,
            cudaStream_t stream) {
  constexpr auto kKernel = trellis_encode_kernel<kStep>;
  allow_shared_memory<kKernel>();
  const int warps = warps_of(view, most_shared_bytes);
  const auto grid = static_cast<unsigned>((n + 2 * warps - 1) / (2 * warps));
  kKernel<<<grid, warps * 32, trellis_shared_bytes(view, most_shared_bytes), stream>>>(
      view, n, u, lengths, first_row, codes, refused);
  POLAR_CUDA_CHECK_LAUNCH(trellis_encode_kernel);
}

}  // namespace

size_t trellis_shared_bytes(const EncodeView& view, size_t most_shared_bytes) {
  const int warps = warps_of(view, most_shared_bytes);
  const RowScratch sizes(cost_stride_of(view.step_bits), view.pairs);
  return warps == 0 ? 0 : kCells * sizeof(float2) + static_cast<size_t>(2 * warps) * sizes.bytes();
}

void trellis_encode(const EncodeView& view, int64_t n, const float* u, const RowLength* lengths,
                    int64_t first_row, uint8_t* codes, Refused* refused, size_t most_shared_bytes,
                    cudaStream_t stream) {
  using Launch = void (*)(const EncodeView&, int64_t, const float*, const RowLength*, int64_t,
                          uint8_t*, Refused*, size_t, cudaStream_t);
  // By bits a pair.
  static constexpr Launch kLaunches[] = {launch<1>, launch<2>, launch<3>, launch<4>,
                                         launch<5>, launch<6>, launch<7>, launch<8>};
  kLaunches[view.step_bits - 1](view, n, u, lengths, first_row, codes, refused, most_shared_bytes,
                                stream);
}

}  // namespace polarquant::cuda
