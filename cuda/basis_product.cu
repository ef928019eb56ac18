// SPDX-License-Identifier: MIT
// Integers of 16 bits are two of 8, a = 256·high + low, and their products are sums of products of
// 8-bit integers, which matrix units make: Σab = 65536·Σhigh·high + 256·Σ(high·low + low·high) +
// Σlow·low. Integers make the CPU's sums in any order; all are modulo 2^32, and Σab has 32 bits
// (most_basis_value).
//
// A thread block multiplies a tile of rows by a tile of the basis's rows. What comes next of both
// is copied to shared memory while this part is multiplied.
#include "cuda/basis_product.h"

#include "cuda/cuda_check.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTileRows = 128;
constexpr int kTileColumns = 64;  // rows of the basis
constexpr int kDepth = 32;        // values that are multiplied at a time
constexpr int kWarpRows = 32;
constexpr int kWarpColumns = 32;
constexpr int kRowFragments = kWarpRows / 16;
constexpr int kColumnFragments = kWarpColumns / 8;
/// Eight rows' words then lie in different banks.
constexpr int kPitch = kDepth + 16;
constexpr int kCopyBytes = 16;
static_assert(kThreads / 32 == kTileRows / kWarpRows * (kTileColumns / kWarpColumns));

struct Tiles {
  int8_t rows[2][kTileRows][kPitch];  // by plane: low, high
  int8_t basis[2][kTileColumns][kPitch];
};

__device__ inline void copy_chunk(int8_t* to, const int8_t* from) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}

/// Begins to copy `count` rows of both planes.
template <int kCount>
__device__ inline void copy_planes(int8_t (&to)[2][kCount][kPitch], const int8_t* from,
                                   int64_t first, int64_t end, uint32_t stride, int depth) {
  constexpr int kChunks = kDepth / kCopyBytes;
  for (int i = threadIdx.x; i < kCount * 2 * kChunks; i += kThreads) {
    const int chunk = i % kChunks;
    const int plane = i / kChunks % 2;
    const int row = i / kChunks / 2;
    // Rows after the last are copies of it, and nothing is made of them.
    const int64_t number = first + row < end ? first + row : end - 1;
    copy_chunk(&to[plane][row][chunk * kCopyBytes],
               from + (number * 2 + plane) * stride + depth + chunk * kCopyBytes);
  }
}

__device__ inline uint32_t word_of(const int8_t* at) {
  return *reinterpret_cast<const uint32_t*>(at);
}

/// sums += a·b, 16 rows by 8 columns.
__device__ inline void multiply_add(int32_t (&sums)[4], const uint32_t (&a)[4],
                                    const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Sums of a warp's fragment, by how much they count: 1, 256 and 65536.
struct FragmentSums {
  int32_t low[4] = {0, 0, 0, 0};
  int32_t middle[4] = {0, 0, 0, 0};
  int32_t high[4] = {0, 0, 0, 0};

  __device__ float total(int i) const {
    return static_cast<float>(static_cast<int32_t>((static_cast<uint32_t>(high[i]) << 16) +
                                                   (static_cast<uint32_t>(middle[i]) << 8) +
                                                   static_cast<uint32_t>(low[i])));
  }
};
using WarpSums = FragmentSums[kRowFragments][kColumnFragments];

__device__ inline void multiply_tiles(const Tiles& tiles, int first_row, int first_column,
                                      WarpSums& sums) {
  const int group = threadIdx.x % 32 / 4;
  const int word = threadIdx.x % 4 * 4;
  uint32_t a[2][kRowFragments][4];
  uint32_t b[2][kColumnFragments][2];
#pragma unroll
  for (int plane = 0; plane < 2; ++plane) {
#pragma unroll
    for (int m = 0; m < kRowFragments; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        a[plane][m][i] =
            word_of(&tiles.rows[plane][first_row + 16 * m + group + i % 2 * 8][word + i / 2 * 16]);
    }
#pragma unroll
    for (int n = 0; n < kColumnFragments; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        b[plane][n][i] = word_of(&tiles.basis[plane][first_column + 8 * n + group][word + i * 16]);
    }
  }
#pragma unroll
  for (int m = 0; m < kRowFragments; ++m) {
#pragma unroll
    for (int n = 0; n < kColumnFragments; ++n) {
      multiply_add(sums[m][n].low, a[0][m], b[0][n]);
      multiply_add(sums[m][n].middle, a[0][m], b[1][n]);
      multiply_add(sums[m][n].middle, a[1][m], b[0][n]);
      multiply_add(sums[m][n].high, a[1][m], b[1][n]);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply_by_basis_kernel(const __grid_constant__ RotationView view,
                             const __grid_constant__ BasisRows rows) {
  __shared__ __align__(16) Tiles tiles[2];
  const int64_t tile_row = static_cast<int64_t>(blockIdx.y) * kTileRows;
  const int tile_column = static_cast<int>(blockIdx.x) * kTileColumns;
  const auto begin_copy = [&](int step) {
    Tiles& to = tiles[step % 2];
    copy_planes(to.rows, rows.values, tile_row, rows.n, view.value_stride, step * kDepth);
    copy_planes(to.basis, view.basis, tile_column, tile_column + kTileColumns, view.value_stride,
                step * kDepth);
  };
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_row = warp / 2 * kWarpRows;
  const int first_column = warp % 2 * kWarpColumns;
  WarpSums sums;
  const int steps = static_cast<int>(view.value_stride) / kDepth;
  begin_copy(0);
  asm volatile("cp.async.commit_group;");
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) begin_copy(step + 1);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    multiply_tiles(tiles[step % 2], first_row, first_column, sums);
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < kRowFragments; ++m) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t row =
          tile_row + first_row + 16 * m + static_cast<int>(threadIdx.x % 32 / 4) + i / 2 * 8;
      if (row >= rows.n) continue;
      const float unit = rows.units[row];
#pragma unroll
      for (int n = 0; n < kColumnFragments; ++n) {
        const int column =
            tile_column + first_column + 8 * n + static_cast<int>(threadIdx.x % 4) * 2 + i % 2;
        if (column < view.wanted) rows.out[row * view.dim + column] = unit * sums[m][n].total(i);
      }
    }
  }
}

int whole_tiles(int wanted) { return (wanted + kTileColumns - 1) / kTileColumns; }

}  // namespace

uint32_t basis_stride(int dim) {
  return static_cast<uint32_t>((dim + kDepth - 1) / kDepth * kDepth);
}

std::vector<int8_t> basis_planes(const int16_t* basis, int dim, int wanted) {
  const size_t stride = basis_stride(dim);
  std::vector<int8_t> planes(static_cast<size_t>(whole_tiles(wanted)) * kTileColumns * 2 * stride);
  for (size_t row = 0; row < static_cast<size_t>(wanted); ++row) {
    int8_t* low = planes.data() + row * 2 * stride;
    for (size_t j = 0; j < static_cast<size_t>(dim); ++j) {
      const int16_t value = basis[row * static_cast<size_t>(dim) + j];
      low[j] = static_cast<int8_t>(value);
      low[stride + j] = static_cast<int8_t>((value - low[j]) >> 8);
    }
  }
  return planes;
}

void multiply_by_basis(const RotationView& view, const BasisRows& rows, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(whole_tiles(view.wanted)),
                  static_cast<unsigned>((rows.n + kTileRows - 1) / kTileRows));
  multiply_by_basis_kernel<<<grid, kThreads, 0, stream>>>(view, rows);
  POLAR_CUDA_CHECK_LAUNCH(multiply_by_basis_kernel);
}

}  // namespace polarquant::cuda
