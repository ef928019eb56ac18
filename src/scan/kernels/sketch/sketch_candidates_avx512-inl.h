// SPDX-License-Identifier: MIT
// The first stage with population counts of words: 16 rows at a time.
#if defined(POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#undef POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#else
#define POLARQUANT_SKETCH_CANDIDATES_AVX512_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
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

/// Two halves of a register. kAdjacent: they lie one after the other.
template <bool kAdjacent>
HWY_ATTR HWY_INLINE __m512i load_halves(const uint8_t* low, const uint8_t* high) {
  if constexpr (kAdjacent) return _mm512_loadu_si512(low);
  return _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low))),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)), 1);
}

/// From the factors as stored of two groups of 8 rows.
template <FactorForm kForm, bool kL2, bool kAdjacent>
HWY_ATTR HWY_INLINE Factors16 load_factors16(const uint8_t* low_group, const uint8_t* high_group) {
  if constexpr (kForm == FactorForm::wide16) {
    // Two shifts need no mask, for which there is no register left.
    const __m512i both = load_halves<kAdjacent>(low_group, high_group);
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
                                                  load_halves<kAdjacent>(low_group, high_group));
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(both)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1))};
  } else {
    alignas(64) static constexpr uint32_t kEven[16] = {0,  2,  4,  6,  8,  10, 12, 14,
                                                       16, 18, 20, 22, 24, 26, 28, 30};
    const __m512i even = _mm512_load_si512(kEven);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512 low = _mm512_loadu_ps(low_group);
    const __m512 high = _mm512_loadu_ps(kAdjacent ? low_group + 64 : high_group);
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
  HWY_ATTR HWY_INLINE __m512i distances(const uint64_t* group0, const uint64_t* group1) const {
    const __m512i even_words =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i low = query_.template distances<kThirdBit>(group0);
    const __m512i high = query_.template distances<kThirdBit>(group1);
    return _mm512_permutex2var_epi32(low, even_words, high);
  }
  HWY_ATTR HWY_INLINE __m512 bounds(const Factors16& factors, __m512i distances) const {
    const __m512 distance = _mm512_cvtepi32_ps(distances);
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

/// The end of a list of candidates, which are compressed in registers: the form that compresses
/// into memory is slow on some machines.
struct ListEnd {
  uint32_t* candidates;
  float* bounds;

  /// Those of 16 rows that reach the threshold; `numbers`: theirs in the tile.
  template <typename LinearBound>
  HWY_ATTR HWY_INLINE void add(const LinearBound& computed, __m512i distances, __m512 found_bounds,
                               __m512i numbers, __mmask16 allowed) {
    const __mmask16 reached = _kand_mask16(allowed, computed.reached(found_bounds));
    const __m512i found = _mm512_or_si512(numbers, _mm512_slli_epi32(distances, kTileRowBits));
    _mm512_storeu_si512(candidates, _mm512_maskz_compress_epi32(reached, found));
    _mm512_storeu_ps(bounds, _mm512_maskz_compress_ps(reached, found_bounds));
    const int count = __builtin_popcount(reached);
    candidates += count;
    bounds += count;
  }
};

/// The groups of 8 rows that a filter keeps rows of, where they are so few that the others are not
/// read.
class AllowedGroups {
 public:
  static constexpr int kMostBlocks = 256;

  /// Lists those of at most so many blocks.
  explicit HWY_ATTR AllowedGroups(const SignBlocks& blocks) {
    const __m128i eight = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    for (int i = blocks.first; i < blocks.end; ++i) {
      const __m128i bytes = _mm_cvtsi64_si128(static_cast<int64_t>(blocks.tile.allowed[i]));
      const auto kept =
          static_cast<__mmask8>(~_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
      const __m128i numbers = _mm_add_epi16(eight, _mm_set1_epi16(static_cast<int16_t>(8 * i)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(numbers_ + count_),
                       _mm_maskz_compress_epi16(kept, numbers));
      count_ += __builtin_popcount(kept);
    }
  }

  int count() const { return count_; }
  /// Numbered 8·block + group.
  unsigned operator[](int i) const { return numbers_[i]; }

 private:
  static_assert(kTileBlocks * 8 <= 1 << 16);
  uint16_t numbers_[8 * kMostBlocks + 8];
  int count_ = 0;
};

/// The blocks of a search's tile, group by group.
template <int kWords, size_t kRowFactorBytes>
struct GroupReader {
  const SignBlocks& blocks;

  HWY_ATTR HWY_INLINE const uint64_t* words(unsigned group) const {
    const auto* first = reinterpret_cast<const uint64_t*>(blocks.tile.sketch[group / 8]);
    return first + group % 8 * (size_t{kWords} * kGroupRows);
  }
  HWY_ATTR HWY_INLINE const uint8_t* factors(unsigned group) const {
    const int capacity = blocks.tile.capacity[group / 8];
    const uint8_t* first = blocks.tile.sketch[group / 8] + blocks.layout.factors_offset(capacity);
    return first + group % 8 * (kRowFactorBytes * kGroupRows);
  }
  HWY_ATTR HWY_INLINE unsigned allowed(unsigned group) const {
    return blocks.tile.allowed[group / 8] >> group % 8 * 8 & 0xFF;
  }
  HWY_ATTR HWY_INLINE void fetch(unsigned group) const {
    for (int word = 0; word < kWords; ++word)
      _mm_prefetch(words(group) + word * kGroupRows, _MM_HINT_T0);
    _mm_prefetch(factors(group), _MM_HINT_T0);
  }
};

/// Groups so far ahead are fetched: a processor does not foresee which ones are next.
constexpr int kGroupsAhead = 12;

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR HWY_NOINLINE ListEnd candidates_of_groups(const SignBlocks& blocks,
                                                   const AllowedGroups& groups,
                                                   const CandidateSearch& search, ListEnd end) {
  const AboveLinearBound<kWords, kThirdBit, kForm, kL2> computed(search);
  const GroupReader<kWords, kForm == FactorForm::float32 ? 8 : 4> reader = {blocks};
  const __m512i eight_twice = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
  for (int i = 0; i < std::min(kGroupsAhead, groups.count()); ++i) reader.fetch(groups[i]);
  for (int i = 0; i < groups.count(); i += 2) {
    // A last group alone is paired with itself.
    const bool is_last = i + 1 == groups.count();
    const unsigned low = groups[i];
    const unsigned high = groups[is_last ? i : i + 1];
    const unsigned allowed = reader.allowed(low) | (is_last ? 0 : reader.allowed(high) << 8);
    if (i + kGroupsAhead + 1 < groups.count()) {
      reader.fetch(groups[i + kGroupsAhead]);
      reader.fetch(groups[i + kGroupsAhead + 1]);
    }
    const __m512i distances = computed.distances(reader.words(low), reader.words(high));
    const Factors16 factors =
        load_factors16<kForm, kL2, false>(reader.factors(low), reader.factors(high));
    const __m512i firsts = _mm512_inserti64x4(_mm512_set1_epi32(static_cast<int>(low * 8)),
                                              _mm256_set1_epi32(static_cast<int>(high * 8)), 1);
    end.add(computed, distances, computed.bounds(factors, distances),
            _mm512_add_epi32(firsts, eight_twice), static_cast<__mmask16>(allowed));
  }
  return end;
}

/// Blocks that are read as a whole.
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR HWY_NOINLINE ListEnd candidates_of_whole_blocks(const SignBlocks& blocks,
                                                         const CandidateSearch& search,
                                                         ListEnd end) {
  using LinearBound = AboveLinearBound<kWords, kThirdBit, kForm, kL2>;
  const LinearBound computed(search);
  constexpr size_t kGroupWords = size_t{kWords} * kGroupRows;
  constexpr int kRowFactorBytes = kForm == FactorForm::float32 ? 8 : 4;
  const __m512i sixteen = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    __m512i numbers = _mm512_add_epi32(sixteen, _mm512_set1_epi32(static_cast<int>(block.first)));
    for (int row = 0; row < block.capacity; row += LinearBound::kRows) {
      const uint64_t* group0 = block.words + row / kGroupRows * kGroupWords;
      // A last group alone is paired with itself: the places after it have no rows.
      const uint64_t* group1 = row + kGroupRows < block.capacity ? group0 + kGroupWords : group0;
      const __m512i distances = computed.distances(group0, group1);
      const uint8_t* stored = block.factors + row * kRowFactorBytes;
      const Factors16 factors =
          load_factors16<kForm, kL2, true>(stored, stored + kGroupRows * kRowFactorBytes);
      const __m512 bounds = computed.bounds(factors, distances);
      LinearBound::fetch_next(block, row);
      end.add(computed, distances, bounds, numbers, static_cast<__mmask16>(block.allowed >> row));
      numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(LinearBound::kRows));
    }
  }
  return end;
}

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR void candidates_of_blocks(const SignBlocks& blocks, CandidateSearch* search) {
  // Of more groups reading some takes as long as reading all.
  constexpr int kFewGroupsOfBlock = 6;
  CandidateList* found = &search->found;
  ListEnd end = {found->candidates + found->count, found->bounds + found->count};
  SignBlocks some = blocks;
  for (; some.first < blocks.end; some.first = some.end) {
    some.end = std::min(blocks.end, some.first + AllowedGroups::kMostBlocks);
    if (blocks.tile.is_filtered) {
      const AllowedGroups groups(some);
      if (groups.count() <= kFewGroupsOfBlock * (some.end - some.first)) {
        end = candidates_of_groups<kWords, kThirdBit, kForm, kL2>(some, groups, *search, end);
        continue;
      }
    }
    end = candidates_of_whole_blocks<kWords, kThirdBit, kForm, kL2>(some, *search, end);
  }
  found->count = static_cast<int>(end.candidates - found->candidates);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
