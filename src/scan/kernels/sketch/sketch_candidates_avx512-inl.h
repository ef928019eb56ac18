// SPDX-License-Identifier: MIT
// The first stage with population counts of words: 16 rows at a time.
#if defined(POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#undef POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#else
#define POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "src/scan/kernels/bounds/block_factors-inl.h"
#include "src/scan/kernels/sketch/sign_blocks-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"

#if POLAR_SIMD_VPOPCNT
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// The factors of 16 rows, units left out; those of kIsRaw without kWideUnit too.
struct Factors16 {
  __m512 scales;
  __m512 biases;
};

/// Whether a linear bound takes wide factors by their bits, without a product: not for L2, since
/// their squares could be too small for floats.
template <FactorForm kForm, bool kL2>
inline constexpr bool kIsRaw = kForm == FactorForm::wide16 && !kL2;

template <FactorForm kForm, bool kL2>
HWY_ATTR HWY_INLINE Factors16 load_factors16(const uint8_t* stored, int row) {
  if constexpr (kForm == FactorForm::wide16) {
    // Two shifts need no mask, for which there is no register left.
    const __m512i both = _mm512_loadu_si512(stored + 4 * row);
    const __m512 scales = _mm512_castsi512_ps(_mm512_srli_epi32(_mm512_slli_epi32(both, 16), 2));
    if constexpr (kIsRaw<kForm, kL2>) {
      return {scales, _mm512_castsi512_ps(_mm512_and_si512(_mm512_srai_epi32(both, 1),
                                                           _mm512_set1_epi32(kSignedWideBits)))};
    }
    const __m512 biases = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_srli_epi32(both, 16), 14));
    return {scales, _mm512_mul_ps(biases, _mm512_set1_ps(kWideUnit))};
  } else if constexpr (kForm == FactorForm::float16) {
    alignas(64) static constexpr uint16_t kScalesThenBiases[32] = {
        0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
        1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    const __m512i both = _mm512_permutexvar_epi16(_mm512_load_si512(kScalesThenBiases),
                                                  _mm512_loadu_si512(stored + 4 * row));
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(both)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1))};
  } else {
    alignas(64) static constexpr uint32_t kEven[16] = {0,  2,  4,  6,  8,  10, 12, 14,
                                                       16, 18, 20, 22, 24, 26, 28, 30};
    const __m512i even = _mm512_load_si512(kEven);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512 low = _mm512_loadu_ps(stored + 8 * row);
    const __m512 high = _mm512_loadu_ps(stored + 8 * row + 64);
    return {_mm512_permutex2var_ps(low, even, high), _mm512_permutex2var_ps(low, odd, high)};
  }
}

/// A query's words, in all lanes.
template <int kWords>
struct SketchWords {
  __m512i signs[kWords];
  __m512i ones[kWords];
  __m512i twos[kWords];
  __m512i fours;  // of the first
  // Where the first word has fours: all twos of the words after it, and the signs there.
  __m512i parted_twos;
  __m512i parted_signs;

  explicit HWY_ATTR SketchWords(const ScanQuery& query) : fours(in_all_lanes(query.fours_word)) {
    uint64_t all_twos = 0;
    uint64_t signs_of_twos = 0;
    for (size_t word = 0; word < kWords; ++word) {
      signs[word] = in_all_lanes(query.sign_words[word]);
      ones[word] = in_all_lanes(query.ones_words[word]);
      twos[word] = in_all_lanes(query.twos_words[word]);
      if (word == 0) continue;
      all_twos |= query.twos_words[word];
      signs_of_twos |= query.twos_words[word] & query.sign_words[word];
    }
    parted_twos = in_all_lanes(all_twos);
    parted_signs = in_all_lanes(signs_of_twos);
  }

  /// Distances of a group's 8 rows, in 64-bit lanes.
  template <bool kThirdBit>
  HWY_ATTR HWY_INLINE __m512i distances(const uint64_t* group) const {
    const __m512i first = _mm512_xor_si512(load(group, 0), signs[0]);
    __m512i ones_count = count(first, ones[0]);
    __m512i twos_count = count(first, twos[0]);
    // For words that share no twos: each bit comes from the word that has a two there.
    __m512i parted = kWords > 1 ? load(group, 1) : first;
#pragma GCC unroll 4
    for (size_t word = 1; word < kWords; ++word) {
      const __m512i own = load(group, word);
      ones_count = _mm512_add_epi64(ones_count, count_differing(own, signs[word], ones[word]));
      constexpr int kSecondWhereFirst = 0xCA;  // a ? b : c
      if (!kThirdBit)
        twos_count = _mm512_add_epi64(twos_count, count_differing(own, signs[word], twos[word]));
      else if (word > 1)
        parted = _mm512_ternarylogic_epi64(twos[word], own, parted, kSecondWhereFirst);
    }
    if constexpr (kThirdBit && kWords > 1)
      twos_count = _mm512_add_epi64(twos_count, count_differing(parted, parted_signs, parted_twos));
    __m512i sum = add_times(ones_count, twos_count, 2);
    if constexpr (kThirdBit) sum = add_times(sum, count(first, fours), 4);
    return sum;
  }

 private:
  static HWY_ATTR HWY_INLINE __m512i in_all_lanes(uint64_t word) {
    return _mm512_set1_epi64(static_cast<int64_t>(word));
  }
  static HWY_ATTR HWY_INLINE __m512i load(const uint64_t* group, size_t word) {
    return _mm512_load_si512(group + word * kGroupRows);
  }
  static HWY_ATTR HWY_INLINE __m512i count(__m512i differ, __m512i weights) {
    return _mm512_popcnt_epi64(_mm512_and_si512(weights, differ));
  }
  /// sum + weight·counts, by products of bytes: a word has 63 twos at most (kBorders in
  /// scan_query.cc), so that the counts of four fit one.
  static HWY_ATTR HWY_INLINE __m512i add_times(__m512i sum, __m512i counts, int weight) {
    return dot_bytes(sum, counts, _mm512_set1_epi32(weight));
  }
  static HWY_ATTR HWY_INLINE __m512i count_differing(__m512i word, __m512i sign, __m512i weights) {
    constexpr int kDifferingOf = 0x28;  // (a ^ b) & c
    return _mm512_popcnt_epi64(_mm512_ternarylogic_epi64(word, sign, weights, kDifferingOf));
  }
};

// For 4 untrained words 61 instructions, and for 3 trained ones 51. The first word takes xor and
// `and`, the others one instruction of ternary logic, which on some machines competes with
// population counts. Products of bytes that multiply as they add are faster, but not in place of
// all sums, where they compete with one another (docs/dev/tuning.md, "Kernels").
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
class AboveLinearBound {
 public:
  static constexpr int kRows = 2 * kGroupRows;
  static constexpr size_t kBytes =
      kRows * (kWords * sizeof(uint64_t) + (kForm == FactorForm::float32 ? 8 : 4));

  explicit HWY_ATTR HWY_INLINE AboveLinearBound(const CandidateSearch& search)
      : query_(*search.query) {
    const LinearBound& bound = search.linear_bound;
    const float unit = kIsRaw<kForm, kL2> ? kWideUnit : 1.0F;
    const float weight = bound.weight * unit;
    const float height = bound.height * unit;
    const float tilt = bound.tilt * unit;
    // Where queries and units are so long that this exceeds floats, every row is a candidate.
    const bool is_finite = std::isfinite(weight) && std::isfinite(height) && std::isfinite(tilt);
    base_ = _mm512_set1_ps(is_finite ? bound.base : std::numeric_limits<float>::infinity());
    weight_ = _mm512_set1_ps(is_finite ? weight : 0);
    height_ = _mm512_set1_ps(is_finite ? height : 0);
    tilt_ = _mm512_set1_ps(is_finite ? tilt : 0);
    threshold_ = _mm512_set1_ps(bound.threshold);
  }

  /// Distances of 16 rows: two groups of 8 in 64-bit lanes become 32-bit lanes.
  HWY_ATTR HWY_INLINE __m512i distances(const SignBlock& block, int row, bool both_groups) const {
    constexpr size_t kGroupWords = size_t{kWords} * kGroupRows;
    const __m512i even_words =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    // A last group alone is paired with itself: the places after it have no rows.
    const uint64_t* group0 = block.words + row / kGroupRows * kGroupWords;
    const uint64_t* group1 = both_groups ? group0 + kGroupWords : group0;
    const __m512i low = query_.template distances<kThirdBit>(group0);
    const __m512i high = query_.template distances<kThirdBit>(group1);
    return _mm512_permutex2var_epi32(low, even_words, high);
  }
  HWY_ATTR HWY_INLINE __m512 bounds(const SignBlock& block, int row, __m512i distances) const {
    const __m512 distance = _mm512_cvtepi32_ps(distances);
    const Factors16 factors = load_factors16<kForm, kL2>(block.factors, row);
    const __m512 norm = kL2 ? factors.biases : factors.scales;
    const __m512 constant = kL2 ? _mm512_mul_ps(factors.biases, factors.biases) : factors.biases;
    const __m512 offset = _mm512_add_ps(base_, _mm512_mul_ps(weight_, constant));
    return _mm512_fmadd_ps(norm, _mm512_fnmadd_ps(tilt_, distance, height_), offset);
  }
  HWY_ATTR HWY_INLINE __mmask16 reached(__m512 bounds) const {
    return _mm512_cmp_ps_mask(bounds, threshold_, _CMP_GE_OQ);
  }
  /// Fetches the part of the next sketch that corresponds to these rows.
  static HWY_ATTR HWY_INLINE void fetch_next(const SignBlock& block, int row) {
    if (block.next == nullptr) return;
    const uint8_t* next = block.next + static_cast<size_t>(row / kRows) * kBytes;
    for (size_t at = 0; at < kBytes; at += 64) _mm_prefetch(next + at, _MM_HINT_T0);
  }

 private:
  SketchWords<kWords> query_;
  __m512 base_;
  __m512 weight_;
  __m512 height_;
  __m512 tilt_;
  __m512 threshold_;
};

/// Candidates are compressed in registers.
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR void candidates_of_blocks(const SignBlocks& blocks, CandidateSearch* search) {
  using LinearBound = AboveLinearBound<kWords, kThirdBit, kForm, kL2>;
  const LinearBound computed(*search);
  const __m512i sixteen = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  uint32_t* candidates = search->found.candidates + search->found.count;
  float* bounds = search->found.bounds + search->found.count;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    __m512i numbers = _mm512_add_epi32(sixteen, _mm512_set1_epi32(static_cast<int>(block.first)));
    for (int row = 0; row < block.capacity; row += LinearBound::kRows) {
      const __m512i distances = computed.distances(block, row, row + kGroupRows < block.capacity);
      const __m512 row_bounds = computed.bounds(block, row, distances);
      LinearBound::fetch_next(block, row);
      const auto allowed = static_cast<__mmask16>(block.allowed >> row);
      const __mmask16 reached = _kand_mask16(allowed, computed.reached(row_bounds));
      // Compressed in a register: the form that compresses into memory is slow on some machines.
      const __m512i found = _mm512_or_si512(numbers, _mm512_slli_epi32(distances, kTileRowBits));
      _mm512_storeu_si512(candidates, _mm512_maskz_compress_epi32(reached, found));
      _mm512_storeu_ps(bounds, _mm512_maskz_compress_ps(reached, row_bounds));
      const int count = __builtin_popcount(reached);
      candidates += count;
      bounds += count;
      numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(LinearBound::kRows));
    }
  }
  search->found.count = static_cast<int>(candidates - search->found.candidates);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
