// SPDX-License-Identifier: MIT
// The sketches of a block's rows, of which a warp's lanes have two each.
#pragma once

#include "cuda/row_terms.cuh"

namespace polarquant::cuda {

/// Lane i has rows i and 32 + i.
inline constexpr int kLaneRows = kBlockRows / 32;

/// Rows of a block that take part, as bits; `rows`: of its list, from this block on.
__device__ inline uint64_t kept_rows(const uint64_t* allowed, int64_t block, uint32_t rows) {
  const uint64_t all = rows < kBlockRows ? (uint64_t{1} << rows) - 1 : ~uint64_t{0};
  return allowed != nullptr ? allowed[block] & all : all;
}

template <int kWords>
struct LaneSketches {
  uint64_t signs[kLaneRows][kWords];
  RowFactors factors[kLaneRows];
};

/// A block's rows. All loads are under way before the warp waits for the first.
template <int kWords>
__device__ LaneSketches<kWords> load_sketches(const CodeView& code, int64_t block) {
  const uint8_t* sketch = block_sketch(code, block);
  LaneSketches<kWords> rows;
#pragma unroll
  for (int r = 0; r < kLaneRows; ++r) {
    const int row = r * 32 + static_cast<int>(threadIdx.x % 32);
    const auto* words =
        reinterpret_cast<const unsigned long long*>(sketch) + row / 8 * kWords * 8 + row % 8;
#pragma unroll
    for (int w = 0; w < kWords; ++w) rows.signs[r][w] = __ldcs(words + 8 * w);
    rows.factors[r] = load_factors(
        code, sketch + kBlockRows * 8 * kWords + static_cast<uint32_t>(row) * code.factor_bytes());
  }
  return rows;
}

/// The distance of a row's sketch from a query's.
template <int kWords, bool kThirdBit>
__device__ int sketch_distance(const QueryConstants& query, const uint64_t (&signs)[kWords]) {
  int distance = 0;
  uint64_t twos = 0;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const uint64_t differ = signs[w] ^ query.sign_words[w];
    distance += __popcll(differ & query.ones_words[w]);
    if (kThirdBit && w > 0) {
      // No two of the other words have a bit in the same place (ScanQuery).
      twos |= differ & query.twos_words[w];
      continue;
    }
    distance += 2 * __popcll(differ & query.twos_words[w]);
    if (kThirdBit) distance += 4 * __popcll(differ & query.fours_word);
  }
  if (kThirdBit && kWords > 1) distance += 2 * __popcll(twos);
  return distance;
}

/// The kernel for a code that kernel_of, of the sketch's words and whether it is trained, gives.
template <typename KernelOf>
auto sketch_kernel(const CodeView& code, const KernelOf& kernel_of) {
  const auto by_words = [&]<bool kTrained>() {
    switch (code.sketch_words) {
      case 1:
        return kernel_of.template operator()<1, kTrained>();
      case 2:
        return kernel_of.template operator()<2, kTrained>();
      case 3:
        return kernel_of.template operator()<3, kTrained>();
      default:
        return kernel_of.template operator()<4, kTrained>();
    }
  };
  return code.is_trained() ? by_words.template operator()<true>()
                           : by_words.template operator()<false>();
}

}  // namespace polarquant::cuda
