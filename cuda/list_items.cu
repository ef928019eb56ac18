// SPDX-License-Identifier: MIT
// From probed lists to the queries of each list: counting, a prefix sum, and half a warp for each
// item, which makes its values.
#include <cfloat>
#include <numbers>

#include "cuda/cuda_check.h"
#include "cuda/group8_decode.cuh"
#include "cuda/list_items.h"
#include "cuda/list_of.cuh"
#include "cuda/residual_query.cuh"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kScanThreads = 1024;

__global__ void __launch_bounds__(kThreads)
    drop_empty_lists_kernel(ListsView lists, ProbesView probes) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<int64_t>(probes.nq) * probes.nprobe) return;
  const Ranked entry = probes.lists[at];
  if (entry != 0 && lists.rows[row_of(entry)] == 0) probes.lists[at] = 0;
}

__global__ void __launch_bounds__(kThreads) count_items_kernel(ProbesView probes, ItemsView items) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<int64_t>(probes.nq) * probes.nprobe) return;
  const Ranked entry = probes.lists[at];
  if (entry == 0) return;
  uint32_t* counts = is_seed(probes, at) ? items.list_seeds : items.list_others;
  probes.places[at] = atomicAdd(counts + row_of(entry), 1U);
}

/// Items in the low half, groups in the high one: both are summed at once.
using Totals = unsigned long long;

/// A list, with the numbers that a search needs.
struct ListItems {
  uint32_t list;
  uint32_t first_item;
  uint32_t count;
  uint32_t seeds;
  uint32_t rows;
};

/// The group of `items` items at most from `done` on, and `rows` rows from `first_row` on.
__device__ ItemGroup group_of(const ListItems& list, uint32_t done, uint32_t items,
                              uint32_t first_row, uint32_t rows) {
  const uint32_t count = min(list.count - done, items);
  return {list.list, list.first_item + done,
          count,     list.seeds > done ? min(list.seeds - done, count) : 0,
          first_row, min(list.rows - first_row, rows)};
}

__global__ void __launch_bounds__(kScanThreads)
    group_items_kernel(ListsView lists, ItemsView items) {
  __shared__ Totals warp_sums[kScanThreads / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  Totals before = 0;  // of the lists of earlier rounds
  for (int64_t first = 0; first < lists.count; first += kScanThreads) {
    const int64_t list = first + threadIdx.x;
    const uint32_t seeds = list < lists.count ? items.list_seeds[list] : 0;
    const uint32_t count = list < lists.count ? seeds + items.list_others[list] : 0;
    const uint32_t rows = count > 0 ? lists.rows[list] : 0;
    const uint32_t item_groups = (count + items.group_items - 1) / items.group_items;
    const uint32_t groups = item_groups * ((rows + items.group_rows - 1) / items.group_rows);
    const Totals own = static_cast<Totals>(groups) << 32 | count;
    Totals sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
      const Totals other = __shfl_up_sync(~0U, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      Totals all = warp_sums[lane];
      for (int distance = 1; distance < 32; distance *= 2) {
        const Totals other = __shfl_up_sync(~0U, all, distance);
        if (lane >= distance) all += other;
      }
      warp_sums[lane] = all;
    }
    __syncthreads();
    const Totals start = before + sum - own + (warp > 0 ? warp_sums[warp - 1] : 0);
    before += warp_sums[kScanThreads / 32 - 1];
    __syncthreads();
    if (count > 0) items.first_items[list] = static_cast<uint32_t>(start);
    // A warp's lists one after the other, by all lanes.
    const ListItems mine = {static_cast<uint32_t>(list), static_cast<uint32_t>(start), count, seeds,
                            rows};
    for (int owner = 0; owner < 32; ++owner) {
      const uint32_t list_groups = __shfl_sync(~0U, groups, owner);
      const Totals first_group = __shfl_sync(~0U, start, owner) >> 32;
      const uint32_t together = __shfl_sync(~0U, item_groups, owner);
      const ListItems shown = {
          __shfl_sync(~0U, mine.list, owner), __shfl_sync(~0U, mine.first_item, owner),
          __shfl_sync(~0U, mine.count, owner), __shfl_sync(~0U, mine.seeds, owner),
          __shfl_sync(~0U, mine.rows, owner)};
      for (uint32_t i = lane; i < list_groups; i += 32)
        items.groups[first_group + i] =
            group_of(shown, i % together * items.group_items, items.group_items,
                     i / together * items.group_rows, items.group_rows);
    }
  }
  if (threadIdx.x == 0) *items.group_count = static_cast<uint32_t>(before >> 32);
}

/// The coordinate at a segment's position, counted from the segment's first; −1 for none.
__device__ int coordinate_of(int position, int count) {
  const int half = (count + 1) / 2;
  if (position < kSegmentDims / 2) return position < half ? position : -1;
  const int second = position - kSegmentDims / 2;
  return second < count - half ? half + second : -1;
}

/// Signs (SignWord) and weights (WordWeights, src/simd/sign_words.h) of a word, from which a
/// query's bounds are made.
struct SketchWord {
  uint64_t negative = 0;
  uint64_t ones = 0;
  uint64_t twos = 0;
  int32_t sum = 0;
  int32_t squares = 0;
  int32_t along = 0;
};
struct Int8Sums {
  SketchWord sketch[kMaxSketchWords];
  double norm2 = 0;
  double payload_squared_norm = 0;  // of the sign words after the sketch
};

/// The part of a word that a lane of half a warp has: one word of a group8's values.
struct Int8Word {
  int value[4];
  int position[4];  // of the segment
};

/// kBorders of src/scan/model/scan_query.cc.
__device__ constexpr float kBorders[] = {.35F, 1, 1.7F};

/// The sketch's word with this sum of squares, for all lanes of the half.
__device__ SketchWord sum_sketch_word(const Int8Word& own, int32_t squares, int dims) {
  const float root = sqrtf(static_cast<float>(squares) / static_cast<float>(dims));
  SketchWord word;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int magnitude = abs(own.value[b]);
    const uint64_t bit = uint64_t{1} << own.position[b];
    if (own.value[b] < 0) word.negative |= bit;
    int weight = 0;
#pragma unroll
    for (const float border : kBorders)
      weight += magnitude > static_cast<int>(border * root) ? 1 : 0;
    if ((weight & 1) != 0) word.ones |= bit;
    if ((weight & 2) != 0) word.twos |= bit;
    word.sum += weight;
    word.squares += weight * weight;
    word.along += weight * magnitude;
  }
  return {half_warp_or(word.negative), half_warp_or(word.ones),     half_warp_or(word.twos),
          half_warp_sum(word.sum),     half_warp_sum(word.squares), half_warp_sum(word.along)};
}

/// Writes a residual query's values of step `step`, and sums them.
__device__ Int8Sums write_values(const CodeView& code, const ResidualQuery& query, float to_values,
                                 float step, bool bounded, int8_t* values) {
  const int lane = threadIdx.x % kHalfWarp;
  const int c = lane / 4;
  const int u = lane % 4;
  const double step2 = static_cast<double>(step) * static_cast<double>(step);
  Int8Sums sums;
  for (int segment = 0; segment < code.segments; ++segment) {
    const int count = segment_count(code.dim, segment);
    Int8Word own;
    uint32_t word = 0;
    int32_t squares = 0;
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      own.position[b] = position_of_byte(c, u, b);
      const int j = coordinate_of(own.position[b], count);
      own.value[b] = j >= 0 ? __float2int_rn(query.at(segment * kSegmentDims + j) * to_values) : 0;
      word |= static_cast<uint32_t>(own.value[b] & 255) << (8 * b);
      squares += own.value[b] * own.value[b];
    }
    reinterpret_cast<uint32_t*>(values + segment * kSegmentDims)[lane] = word;
    if (!bounded) continue;
    squares = half_warp_sum(squares);
    const double squared_norm = step2 * squares;
    sums.norm2 += squared_norm;
    if (segment < code.sketch_words) {
      sums.sketch[segment] = sum_sketch_word(own, squares, count);
    } else if (segment < code.sign_words) {
      sums.payload_squared_norm += squared_norm;
    }
  }
  return sums;
}

struct SignBound {
  double slope;
  double margin;
};

/// set_sign_bounds of src/scan/model/scan_query.cc, and the bound of the first of two stages.
__device__ void set_bounds(const CodeView& code, const Int8Description& values,
                           const Int8Sums& sums, float step, float exactness,
                           QueryConstants* query) {
  double along = 0;
  int weights = 0;
  int squares = 0;
  for (int w = 0; w < code.sketch_words; ++w) {
    const SketchWord& word = sums.sketch[w];
    query->sign_words[w] = word.negative;
    query->ones_words[w] = word.ones;
    query->twos_words[w] = word.twos;
    along += static_cast<double>(step) * word.along;
    weights += word.sum;
    squares += word.squares;
  }
  query->sketch_weight = weights;
  const double unit = squares > 0 ? along / squares : 0;
  const double sketch_squared_norm = unit * along;
  const double squared_norm = sketch_squared_norm + sums.payload_squared_norm;
  const double length = (code.is_l2 != 0 ? 2.0F : 1.0F) * values.length_of_norm;
  const double margin = values.margin * exactness;
  const double slope_of_squared_norm = values.slope_of_sign * sums.norm2 * length;
  const double explained = 2 / std::numbers::pi / sums.norm2;
  const auto bound_of = [&](double e) -> SignBound {
    if (!(e > 0)) return {0, 0};
    const double slope = slope_of_squared_norm / e;
    const double variance = fmax(0.0, e - explained * e * e);
    return {slope, margin * slope * sqrt(variance)};
  };
  const SignBound sketch = bound_of(sketch_squared_norm);
  query->sketch_slope = static_cast<float>(sketch.slope * unit);
  query->sketch_margin = static_cast<float>(sketch.margin);
  const SignBound both = bound_of(squared_norm);
  query->signs_sketch_slope = static_cast<float>(both.slope * unit);
  query->signs_payload_slope = static_cast<float>(both.slope * step);
  query->signs_margin = static_cast<float>(both.margin);
  if (code.stages != 2) return;
  const double first_step = step * values.stage_step[0];
  query->first_slope = static_cast<float>(length * values.first_stage_scale * first_step);
  query->first_margin =
      static_cast<float>(exactness * sqrt(sums.norm2) * length * values.first_stage_error);
}

__global__ void __launch_bounds__(kThreads)
    prepare_items_kernel(CodeView code, ListsView lists, ProbesView probes, const float* rotated,
                         const QueryTerms* terms, float exactness, bool bounded, ItemsView items) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kHalfWarp;
  if (at >= static_cast<int64_t>(probes.nq) * probes.nprobe) return;
  const Ranked entry = probes.lists[at];
  if (entry == 0) return;
  const int lane = threadIdx.x % kHalfWarp;
  const auto q = static_cast<int32_t>(at / probes.nprobe);
  const int64_t list = row_of(entry);
  const size_t item = item_of(probes, items, at);
  const ResidualQuery query =
      move_query(code, lists, list, rotated + static_cast<size_t>(q) * code.dim, terms[q]);

  // round_to_step of src/simd/round_to_int8.h.
  float most = 0;
  for (int j = lane; j < code.dim; j += kHalfWarp) most = fmaxf(most, fabsf(query.at(j)));
  most = half_warp_largest(most);
  constexpr float kMaxInt8 = 127;
  float to_values = kMaxInt8 / most;
  float step = most / kMaxInt8;
  if (!(to_values <= FLT_MAX)) to_values = step = 0;
  const Int8Sums sums = write_values(code, query, to_values, step, bounded,
                                     items.values + item * static_cast<size_t>(code.padded_dim()));
  if (lane != 0) return;
  const bool is_l2 = code.is_l2 != 0;
  QueryConstants constants = {};
  constants.base = is_l2 ? -query.offset : query.offset;
  constants.weight = is_l2 ? 1.0F : query.bias_weight;
  for (int s = 0; s < code.stages; ++s)
    constants.dot_scale[s] = (is_l2 ? 2.0F : 1.0F) * step * lists.values.stage_step[s];
  constants.offset = query.offset;
  constants.bias_weight = query.bias_weight;
  if (bounded) set_bounds(code, lists.values, sums, step, exactness, &constants);
  items.constants[item] = constants;
  items.queries[item] = q;
}

unsigned blocks_of(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

void drop_empty_lists(const ListsView& lists, const ProbesView& probes, cudaStream_t stream) {
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  drop_empty_lists_kernel<<<blocks_of(count), kThreads, 0, stream>>>(lists, probes);
  POLAR_CUDA_CHECK_LAUNCH(drop_empty_lists_kernel);
}

void count_items(const ListsView& lists, const ProbesView& probes, const ItemsView& items,
                 cudaStream_t stream) {
  const size_t bytes = static_cast<size_t>(lists.count) * sizeof(uint32_t);
  POLAR_CUDA_CHECK(cudaMemsetAsync(items.list_seeds, 0, bytes, stream));
  POLAR_CUDA_CHECK(cudaMemsetAsync(items.list_others, 0, bytes, stream));
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  count_items_kernel<<<blocks_of(count), kThreads, 0, stream>>>(probes, items);
  POLAR_CUDA_CHECK_LAUNCH(count_items_kernel);
}

void group_items(const ListsView& lists, const ItemsView& items, cudaStream_t stream) {
  group_items_kernel<<<1, kScanThreads, 0, stream>>>(lists, items);
  POLAR_CUDA_CHECK_LAUNCH(group_items_kernel);
}

void prepare_items(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                   const float* rotated, const QueryTerms* terms, float exactness, bool bounded,
                   const ItemsView& items, cudaStream_t stream) {
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  // Larger ones leave no row out, and would overflow (src/scan/model/scan_query.cc).
  constexpr float kMaxExactness = 65536;
  prepare_items_kernel<<<blocks_of(count * kHalfWarp), kThreads, 0, stream>>>(
      code, lists, probes, rotated, terms, exactness < kMaxExactness ? exactness : kMaxExactness,
      bounded, items);
  POLAR_CUDA_CHECK_LAUNCH(prepare_items_kernel);
}

}  // namespace polarquant::cuda
