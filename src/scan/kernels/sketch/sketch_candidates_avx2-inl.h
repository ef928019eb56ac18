// SPDX-License-Identifier: MIT
// The first stage for one query with AVX2, which has no population counts.
#if defined(POLARQUANT_SKETCH_CANDIDATES_AVX2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SKETCH_CANDIDATES_AVX2_INL_H_
#undef POLARQUANT_SKETCH_CANDIDATES_AVX2_INL_H_
#else
#define POLARQUANT_SKETCH_CANDIDATES_AVX2_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#include "src/scan/kernels/sketch/sign_blocks-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/kernels/sketch/weighted_counts-inl.h"
#include "src/simd/capabilities.h"

#if POLAR_SIMD_AVX2 && !POLAR_SIMD_AVX512
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// For each mask, the numbers of its bits one after the other.
struct EightCompressed {
  alignas(64) uint64_t numbers[256];

  constexpr EightCompressed() : numbers() {
    for (unsigned mask = 0; mask < 256; ++mask) {
      unsigned count = 0;
      for (uint64_t bit = 0; bit < 8; ++bit)
        if ((mask >> bit & 1) != 0) numbers[mask] |= bit << 8 * count++;
    }
  }
};
constexpr EightCompressed kEightCompressed;

/// Distances and bounds of 8 rows: two registers of 64-bit lanes become one of 32-bit lanes.
struct EightRows {
  __m256i distances;
  __m256 bounds;
};

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
class AboveLinearBound {
 public:
  explicit HWY_ATTR HWY_INLINE AboveLinearBound(const CandidateSearch& search)
      : sketch_(*search.query),
        base_(_mm256_set1_ps(search.linear_bound.base)),
        weight_(_mm256_set1_ps(search.linear_bound.weight)),
        height_(_mm256_set1_ps(search.linear_bound.height)),
        tilt_(_mm256_set1_ps(search.linear_bound.tilt)),
        threshold_(_mm256_set1_ps(search.linear_bound.threshold)) {}

  HWY_ATTR HWY_INLINE EightRows rows(const SignBlock& block, int row) const {
    const uint64_t* group = block.words + static_cast<size_t>(row) * kWords;
    const __m256 low = _mm256_castsi256_ps(sketch_.distances(group).raw);
    const __m256 high = _mm256_castsi256_ps(sketch_.distances(group + kGroupRows / 2).raw);
    // Rows 0, 1, 4, 5, 2, 3, 6, 7: shuffles stay within 128 bits.
    const __m256i distances = _mm256_permute4x64_epi64(
        _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0b10001000)), 0b11011000);
    const __m256 distance = _mm256_cvtepi32_ps(distances);
    const Factors8 factors = load_factors8<kForm, kL2>(block.factors, row);
    const __m256 norm = kL2 ? factors.biases : factors.scales;
    const __m256 constant = kL2 ? _mm256_mul_ps(factors.biases, factors.biases) : factors.biases;
    const __m256 offset = _mm256_add_ps(base_, _mm256_mul_ps(weight_, constant));
    return {distances, _mm256_fmadd_ps(norm, _mm256_fnmadd_ps(tilt_, distance, height_), offset)};
  }
  HWY_ATTR HWY_INLINE unsigned reached(__m256 bounds) const {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(bounds, threshold_, _CMP_GE_OQ)));
  }

 private:
  SketchDistances<kWords, kThirdBit> sketch_;
  __m256 base_;
  __m256 weight_;
  __m256 height_;
  __m256 tilt_;
  __m256 threshold_;
};

/// Candidates are compressed by a table. For 4 words 112 instructions count, and 25
/// compare with the linear bound and write. `kSkips`: groups that a filter keeps no row of are not
/// read.
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2, bool kSkips>
HWY_ATTR void candidates_of_groups(const SignBlocks& blocks, CandidateSearch* search) {
  const AboveLinearBound<kWords, kThirdBit, kForm, kL2> computed(*search);
  const __m256i eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  uint32_t* candidates = search->found.candidates + search->found.count;
  float* bounds = search->found.bounds + search->found.count;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    uint64_t allowed = block.allowed;
    __m256i numbers = _mm256_add_epi32(eight, _mm256_set1_epi32(static_cast<int>(block.first)));
    for (int row = 0; row < block.capacity; row += kGroupRows, allowed >>= kGroupRows,
             numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(kGroupRows))) {
      if (kSkips && (allowed & 0xFF) == 0) continue;
      const EightRows rows = computed.rows(block, row);
      const auto mask = static_cast<uint8_t>(allowed & computed.reached(rows.bounds));
      const __m256i places = _mm256_cvtepu8_epi32(
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kEightCompressed.numbers + mask)));
      const __m256i found =
          _mm256_or_si256(numbers, _mm256_slli_epi32(rows.distances, kTileRowBits));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(candidates),
                          _mm256_permutevar8x32_epi32(found, places));
      _mm256_storeu_ps(bounds, _mm256_permutevar8x32_ps(rows.bounds, places));
      const int count = std::popcount(mask);
      candidates += count;
      bounds += count;
    }
  }
  search->found.count = static_cast<int>(candidates - search->found.candidates);
}

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR void candidates_of_blocks(const SignBlocks& blocks, CandidateSearch* search) {
  if (blocks.tile.is_filtered) {
    candidates_of_groups<kWords, kThirdBit, kForm, kL2, true>(blocks, search);
  } else {
    candidates_of_groups<kWords, kThirdBit, kForm, kL2, false>(blocks, search);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
