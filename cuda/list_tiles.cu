// SPDX-License-Identifier: MIT
// The rows of a list against up to 64 of its queries, as products of small matrices. A warp takes
// 16 rows: lane 4g + c decodes group8 c of each segment of rows g and g + 8, as the integer
// product's first matrix needs it, and reads the same group8 of query g of each eight for the
// second one. Both have the same coordinates in the same bytes, in whatever order. The lane then
// has the sums of two rows and two queries of each eight.
#include "cuda/cuda_check.h"
#include "cuda/group_queries.cuh"
#include "cuda/list_scan.h"
#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// Queries of a product.
constexpr int kEight = 8;
/// Copies of a table in shared memory, one for as many lanes, so that lanes rarely wait for each
/// other. Trained codes have many tables.
template <bool kTrained>
inline constexpr int kTableCopies = kTrained ? 2 : 16;

/// sums (16 rows, 8 queries) += values of (16, 32) and (32, 8).
__device__ void multiply(int32_t sums[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                         int b0, int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// The codes of a lane's two groups8.
struct TwoGroups8 {
  Group8Codes upper;
  Group8Codes lower;
};

/// A stage's segments, and what a lane decodes them with: every so many entries of `table` are its
/// own.
template <bool kTrained>
class StageRows {
 public:
  /// `tables`: this lane's.
  __device__ StageRows(const CodeView& code, int stage, const RowBytes& upper,
                       const RowBytes& lower, const uint32_t* tables)
      : code_(code), stage_(code.stage[stage]), upper_(upper), lower_(lower), tables_(tables) {
    if constexpr (kTrained) {
      first_ = stage == 0 ? 0 : code.second_stage;
      end_ = stage == 0 && code.second_stage > 0 ? code.second_stage : code.coded_segments;
    } else {
      first_ = 0;
      end_ = code.segments;
      tables_ += stage * 256 * kTableCopies<kTrained>;
    }
  }
  __device__ int first() const { return first_; }
  __device__ int end() const { return end_; }

  __device__ TwoGroups8 load(int segment) const {
    const int c = threadIdx.x % 4;
    if constexpr (kTrained) {
      const SegmentView& view = code_.plan[segment];
      return {load_trained_group8(code_, view, upper_, segment, c),
              load_trained_group8(code_, view, lower_, segment, c)};
    } else {
      return {load_group8(code_, stage_, upper_, segment, c),
              load_group8(code_, stage_, lower_, segment, c)};
    }
  }
  __device__ void decode(int segment, const TwoGroups8& groups8, uint32_t (&up)[4],
                         uint32_t (&low)[4]) const {
    const uint32_t* table = tables_;
    if constexpr (kTrained) table += code_.plan[segment].table * 256 * kTableCopies<kTrained>;
    const auto look_up = [&](uint32_t index) { return table[index * kTableCopies<kTrained>]; };
    const StageView& stage = kTrained ? code_.plan[segment].stage : stage_;
    decode_group8(stage, groups8.upper, look_up, up);
    decode_group8(stage, groups8.lower, look_up, low);
  }

 private:
  const CodeView& code_;
  const StageView& stage_;
  const RowBytes& upper_;
  const RowBytes& lower_;
  const uint32_t* tables_;
  int first_;
  int end_;
};

/// The sums of a stage: sums[e][i] is that of row g + 8·(i/2) and query 8e + 2c + i%2.
template <int kEights, bool kTrained>
__device__ void multiply_stage(const CodeView& code, const StageRows<kTrained>& rows,
                               const int8_t* values, int count, int32_t sums[kEights][4]) {
  const int g = threadIdx.x % 32 / 4;
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[e][i] = 0;
  }
  // The next segment is loaded meanwhile.
  TwoGroups8 next = rows.load(rows.first());
  for (int segment = rows.first(); segment < rows.end(); ++segment) {
    const TwoGroups8 groups8 = next;
    if (segment + 1 < rows.end()) next = rows.load(segment + 1);
    uint32_t up[4];
    uint32_t low[4];
    rows.decode(segment, groups8, up, low);
    // Lanes with a row's first group8 took another branch.
    __syncwarp();
    const int8_t* group8 = values + segment * kSegmentDims + c * 16;
#pragma unroll
    for (int e = 0; e < kEights; ++e) {
      if (kEight * e >= count) break;
      // After the last query the last is taken again; nobody reads these sums.
      const int item = min(kEight * e + g, count - 1);
      const int4 query =
          *reinterpret_cast<const int4*>(group8 + static_cast<size_t>(item) * code.padded_dim());
      multiply(sums[e], up[0], low[0], up[1], low[1], query.x, query.y);
      multiply(sums[e], up[2], low[2], up[3], low[3], query.z, query.w);
    }
  }
}

template <int kStages>
inline constexpr int kGroupItems = kStages == 2 ? kTwoStageTileItems : kMostItems;

/// Scans the rows of a group, by all warps of a block. `tables`: copies side by side.
template <int kStages, bool kTrained>
__device__ void scan_group(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                           const ItemGroup& group, int count, const uint32_t* tables,
                           const GroupQueries<kGroupItems<kStages>>& queries) {
  constexpr int kEights = kGroupItems<kStages> / kEight;
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int c = lane % 4;
  const uint32_t* own_tables = tables + lane % kTableCopies<kTrained>;
  const int8_t* values =
      task.items.values + static_cast<size_t>(group.first_item) * code.padded_dim();
  const int64_t first_row =
      static_cast<int64_t>(lists.first_blocks[group.list]) * kBlockRows + group.first_row;
  const RowMask mask = {task.allowed, first_row + group.rows};
  for (int64_t first = threadIdx.x / 32 * kTileRows; first < group.rows;
       first += kWarps * kTileRows) {
    // Memory goes on after a list's last row, to the end of its block.
    const int64_t own[2] = {first_row + first + g, first_row + first + g + kTileRows / 2};
    const bool is_row[2] = {mask.keeps(own[0]), mask.keeps(own[1])};
    if (__ballot_sync(~0U, is_row[0] || is_row[1]) == 0) continue;
    if (first + kWarps * kTileRows < group.rows) {
      const int64_t next = first_row + first + kWarps * kTileRows;
      prefetch_span(code.payloads + next * code.payload_bytes, kTileRows * code.payload_bytes);
      if (next % kBlockRows == 0)
        prefetch_span(block_sketch(code, next / kBlockRows), code.sketch_bytes());
    }
    const RowBytes upper = row_bytes(code, own[0]);
    const RowBytes lower = row_bytes(code, own[1]);
    int32_t sums[kStages][kEights][4];
#pragma unroll
    for (int s = 0; s < kStages; ++s)
      multiply_stage<kEights, kTrained>(
          code, StageRows<kTrained>(code, s, upper, lower, own_tables), values, count, sums[s]);
    const RowTerms terms[2] = {load_terms(code, own[0]), load_terms(code, own[1])};
#pragma unroll
    for (int e = 0; e < kEights; ++e) {
      if (kEight * e >= count) break;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int item = kEight * e + 2 * c + i % 2;
        const QueryConstants& query = queries.constants[item];
        float score;
        if constexpr (kStages == 2) {
          score = similarity(query, terms[i / 2], sums[0][e][i], sums[1][e][i]);
        } else {
          score = similarity(query, terms[i / 2], sums[0][e][i]);
        }
        const bool matches = item < count && is_row[i / 2] && score >= queries.reach[item];
        const Ranked ranked = matches ? ranked_row(score, own[i / 2]) : 0;
        if (ranked != 0 && ranked >= queries.thresholds[item])
          append(task.best, queries.queries[item], ranked);
      }
    }
  }
}

template <int kStages, bool kTrained>
__global__ void __launch_bounds__(kThreads, 2)
    list_tiles_kernel(CodeView code, ListsView lists, ListScanTask task, bool only_seeds) {
  constexpr int kCopies = kTableCopies<kTrained>;
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kStages) * 256 * kCopies];
  __shared__ GroupQueries<kGroupItems<kStages>> queries;
  for (int i = threadIdx.x; i < code.table_count * 256 * kCopies; i += kThreads)
    tables[i] = code.tables[i / kCopies];
  const uint32_t groups = group_count(task.items);
  for (uint32_t i = blockIdx.x; i < groups; i += gridDim.x) {
    const ItemGroup group = task.items.groups[i];
    const uint32_t count = only_seeds ? group.seeds : group.count;
    if (count == 0) continue;
    __syncthreads();  // no thread still reads the queries before
    load_group(task.items, group, count, task.thresholds, &queries);
    __syncthreads();
    scan_group<kStages, kTrained>(code, lists, task, group, static_cast<int>(count), tables,
                                  queries);
  }
}

}  // namespace

void scan_by_tiles(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                   bool only_seeds, const ListScanPlan& plan, cudaStream_t stream) {
  const auto kernel_for = [&]<bool kTrained>() {
    return code.stages == 2 ? list_tiles_kernel<2, kTrained> : list_tiles_kernel<1, kTrained>;
  };
  const auto kernel = code.is_trained() ? kernel_for.template operator()<true>()
                                        : kernel_for.template operator()<false>();
  kernel<<<grid_of(kernel, kThreads, plan), kThreads, 0, stream>>>(code, lists, task, only_seeds);
  POLAR_CUDA_CHECK_LAUNCH(list_tiles_kernel);
}

}  // namespace polarquant::cuda
