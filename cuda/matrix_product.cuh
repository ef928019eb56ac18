// SPDX-License-Identifier: MIT
// Integer matrix products of 64 rows in registers with N queries in shared memory, 32 bytes of each
// at a time, for the 128 threads of a warp group: `wgmma` on sm_90a, `mma` elsewhere. Operands lie
// in both as PTX's m64nNk32 has them:
// - rows: lane 4g + c of warp w holds bytes 4c … 4c+3 of rows 16w + g and 16w + g + 8 in a[0] and
//   a[1], bytes 16+4c … 16+4c+3 of the two in a[2] and a[3];
// - queries: 16 bytes of each of N, one after the other, then the next 16 bytes (a K-major matrix
//   without swizzle);
// - sums: d[j][0] and d[j][1] are the first row's with queries 8j + 2c and 8j + 2c + 1, d[j][2] and
//   d[j][3] the second row's.
#pragma once

#include <cstdint>

namespace polarquant::cuda {

inline constexpr int kGroupThreads = 128;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define POLAR_HAS_WGMMA 1
#else
#define POLAR_HAS_WGMMA 0
#endif

#if POLAR_HAS_WGMMA
/// Where a matrix of queries begins, and how far its parts are apart (PTX ISA, "Matrix Descriptor
/// Format"): 16·N bytes from one 16-byte column to the next, 128 from 8 queries to the next 8.
template <int N>
__device__ inline uint64_t matrix_descriptor(const int8_t* queries) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(queries));
  return static_cast<uint64_t>(address >> 4 & 0x3fff) | static_cast<uint64_t>(N) << 16 |
         uint64_t{8} << 32;
}

template <int N>
struct WarpGroupProduct;

template <>
struct WarpGroupProduct<8> {
  __device__ static void multiply(int32_t (&d)[1][4], const uint32_t (&a)[4], uint64_t queries,
                                  int add) {
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %9, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {"
        "%0, %1, %2, %3"
        "}, {%4, %5, %6, %7}, %8, adds;\n}"
        : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(queries), "r"(add));
  }
};

template <>
struct WarpGroupProduct<32> {
  __device__ static void multiply(int32_t (&d)[4][4], const uint32_t (&a)[4], uint64_t queries,
                                  int add) {
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %21, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
        "}, {%16, %17, %18, %19}, %20, adds;\n}"
        : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3]), "+r"(d[1][0]), "+r"(d[1][1]),
          "+r"(d[1][2]), "+r"(d[1][3]), "+r"(d[2][0]), "+r"(d[2][1]), "+r"(d[2][2]), "+r"(d[2][3]),
          "+r"(d[3][0]), "+r"(d[3][1]), "+r"(d[3][2]), "+r"(d[3][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(queries), "r"(add));
  }
};

template <>
struct WarpGroupProduct<64> {
  __device__ static void multiply(int32_t (&d)[8][4], const uint32_t (&a)[4], uint64_t queries,
                                  int add) {
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31"
        "}, {%32, %33, %34, %35}, %36, adds;\n}"
        : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3]), "+r"(d[1][0]), "+r"(d[1][1]),
          "+r"(d[1][2]), "+r"(d[1][3]), "+r"(d[2][0]), "+r"(d[2][1]), "+r"(d[2][2]), "+r"(d[2][3]),
          "+r"(d[3][0]), "+r"(d[3][1]), "+r"(d[3][2]), "+r"(d[3][3]), "+r"(d[4][0]), "+r"(d[4][1]),
          "+r"(d[4][2]), "+r"(d[4][3]), "+r"(d[5][0]), "+r"(d[5][1]), "+r"(d[5][2]), "+r"(d[5][3]),
          "+r"(d[6][0]), "+r"(d[6][1]), "+r"(d[6][2]), "+r"(d[6][3]), "+r"(d[7][0]), "+r"(d[7][1]),
          "+r"(d[7][2]), "+r"(d[7][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(queries), "r"(add));
  }
};

template <>
struct WarpGroupProduct<128> {
  __device__ static void multiply(int32_t (&d)[16][4], const uint32_t (&a)[4], uint64_t queries,
                                  int add) {
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
        "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
        "%58, %59, %60, %61, %62, %63"
        "}, {%64, %65, %66, %67}, %68, adds;\n}"
        : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3]), "+r"(d[1][0]), "+r"(d[1][1]),
          "+r"(d[1][2]), "+r"(d[1][3]), "+r"(d[2][0]), "+r"(d[2][1]), "+r"(d[2][2]), "+r"(d[2][3]),
          "+r"(d[3][0]), "+r"(d[3][1]), "+r"(d[3][2]), "+r"(d[3][3]), "+r"(d[4][0]), "+r"(d[4][1]),
          "+r"(d[4][2]), "+r"(d[4][3]), "+r"(d[5][0]), "+r"(d[5][1]), "+r"(d[5][2]), "+r"(d[5][3]),
          "+r"(d[6][0]), "+r"(d[6][1]), "+r"(d[6][2]), "+r"(d[6][3]), "+r"(d[7][0]), "+r"(d[7][1]),
          "+r"(d[7][2]), "+r"(d[7][3]), "+r"(d[8][0]), "+r"(d[8][1]), "+r"(d[8][2]), "+r"(d[8][3]),
          "+r"(d[9][0]), "+r"(d[9][1]), "+r"(d[9][2]), "+r"(d[9][3]), "+r"(d[10][0]),
          "+r"(d[10][1]), "+r"(d[10][2]), "+r"(d[10][3]), "+r"(d[11][0]), "+r"(d[11][1]),
          "+r"(d[11][2]), "+r"(d[11][3]), "+r"(d[12][0]), "+r"(d[12][1]), "+r"(d[12][2]),
          "+r"(d[12][3]), "+r"(d[13][0]), "+r"(d[13][1]), "+r"(d[13][2]), "+r"(d[13][3]),
          "+r"(d[14][0]), "+r"(d[14][1]), "+r"(d[14][2]), "+r"(d[14][3]), "+r"(d[15][0]),
          "+r"(d[15][1]), "+r"(d[15][2]), "+r"(d[15][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(queries), "r"(add));
  }
};

#endif

/// Must come before products of registers that were written since the last ones.
__device__ inline void begin_products() {
#if POLAR_HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Ends a batch of products.
__device__ inline void end_products() {
#if POLAR_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most `kLeft` batches are under way.
template <int kLeft>
__device__ inline void wait_products() {
#if POLAR_HAS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
#endif
}
/// Makes what threads wrote to shared memory visible to products after the next barrier.
__device__ inline void show_to_products() {
#if POLAR_HAS_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// A matrix of queries in the order of products: 32 bytes of N queries after the other.
template <int N>
class QueryMatrix {
 public:
#if POLAR_HAS_WGMMA
  __device__ explicit QueryMatrix(const int8_t* queries)
      : first_(static_cast<uint32_t>(matrix_descriptor<N>(queries))) {}
  /// The part that begins `chunks` columns of 16 bytes later.
  __device__ uint64_t part(int chunks) const {
    // Addresses are in the low word, and never carry out of it.
    constexpr auto kStrides = uint64_t{8} << 32;
    return kStrides | (first_ + static_cast<uint32_t>(chunks * N));
  }

 private:
  uint32_t first_;
#else
  __device__ explicit QueryMatrix(const int8_t* queries) : first_(queries) {}
  __device__ const int8_t* part(int chunks) const { return first_ + chunks * 16 * N; }

 private:
  const int8_t* first_;
#endif
};

/// d += 64 rows × 32 bytes times those of N queries; without `add` d = it.
template <int N>
__device__ inline void multiply(int32_t (&d)[N / 8][4], const uint32_t (&a)[4],
                                const QueryMatrix<N>& matrix, int chunks, bool add) {
#if POLAR_HAS_WGMMA
  WarpGroupProduct<N>::multiply(d, a, matrix.part(chunks), add ? 1 : 0);
#else
  if (!add) {
#pragma unroll
    for (int j = 0; j < N / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) d[j][e] = 0;
    }
  }
  const int8_t* queries = matrix.part(chunks);
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
    const auto* low = reinterpret_cast<const uint32_t*>(queries + (8 * j + lane / 4) * 16);
    const uint32_t b0 = low[lane % 4];
    const uint32_t b1 = low[4 * N + lane % 4];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[j][0]), "+r"(d[j][1]), "+r"(d[j][2]), "+r"(d[j][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#endif
}

}  // namespace polarquant::cuda
