// SPDX-License-Identifier: MIT
// Shared sketches for AVX3_DL. Six coordinates of a block's 64 rows are one register of indices;
// another register has the distances that six signs and weights of a query give the 64 patterns of
// a row's. One permutation of bytes looks up all rows.
#if defined(POLARQUANT_SHARED_LUT6_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SHARED_LUT6_INL_H_
#undef POLARQUANT_SHARED_LUT6_INL_H_
#else
#define POLARQUANT_SHARED_LUT6_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/kernels/batch/shared_thresholds-inl.h"
#include "src/scan/kernels/bounds/block_factors-inl.h"
#include "src/simd/capabilities.h"

#if POLAR_SIMD_VBMI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Six coordinates make an index: 11 indices cover a word's 64, the last with 4.
constexpr int kLut6GroupsPerWord = 11;

/// The indices of a block, by LUT group.
template <class Byte>
HWY_INLINE auto lut6_groups_of(Byte* planes, int block) {
  constexpr int kBlockLut6Groups = kMaxSketchWords * kLut6GroupsPerWord;
  static_assert(kBlockLut6Groups <= SharedSketches::kMostPlanes);
  return reinterpret_cast<
             std::conditional_t<std::is_const_v<Byte>, const uint8_t, uint8_t>(*)[kBlockRows]>(
             planes) +
         block * kBlockLut6Groups;
}

/// For three signs of a query and, above them, the two bits of their weights, the lower one of all
/// three first: the distances of the 8 patterns of a row's signs, a byte each.
struct ThreeDistances {
  int64_t distances[512];

  constexpr ThreeDistances() : distances() {
    for (unsigned query = 0; query < 512; ++query) {
      for (unsigned way = 8; way-- > 0;) {
        const unsigned differ = (way ^ query) & 7;
        distances[query] = distances[query] << 8 | (std::popcount(differ & query >> 3) +
                                                    2 * std::popcount(differ & query >> 6));
      }
    }
  }
};
constexpr ThreeDistances kDistances;

/// Lane j of v[i] becomes lane i of v[j].
HWY_ATTR HWY_INLINE void transpose(__m512i (&v)[8]) {
  __m512i pairs[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m512i low = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], 0x88);
    const __m512i high = _mm512_shuffle_i64x2(pairs[i], pairs[i + 2], 0xDD);
    const __m512i low4 = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], 0x88);
    const __m512i high4 = _mm512_shuffle_i64x2(pairs[i + 4], pairs[i + 6], 0xDD);
    v[i] = _mm512_shuffle_i64x2(low, low4, 0x88);
    v[i + 4] = _mm512_shuffle_i64x2(low, low4, 0xDD);
    v[i + 2] = _mm512_shuffle_i64x2(high, high4, 0x88);
    v[i + 6] = _mm512_shuffle_i64x2(high, high4, 0xDD);
  }
}

/// Writes `count` LUT groups of a word, which begin at bits `shifts`, for all rows. vpmultishiftqb
/// extracts 8 bits of each: vpermb ignores the two above a group, and `kept` masks others.
HWY_ATTR HWY_INLINE void lay_out_word(const uint64_t* words, size_t group_words, int capacity,
                                      __m512i shifts, __m512i kept, int count,
                                      uint8_t (*lut6_groups)[kBlockRows]) {
  // Turns bytes of 8 rows with 8 fields each into fields of 8 rows.
  const __m512i by_field = _mm512_set_epi8(
      63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5,
      60, 52, 44, 36, 28, 20, 12, 4, 59, 51, 43, 35, 27, 19, 11, 3, 58, 50, 42, 34, 26, 18, 10, 2,
      57, 49, 41, 33, 25, 17, 9, 1, 56, 48, 40, 32, 24, 16, 8, 0);
  __m512i v[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const __m512i rows = i * kGroupRows < capacity
                             ? _mm512_load_si512(words + static_cast<size_t>(i) * group_words)
                             : _mm512_setzero_si512();
    const __m512i fields = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, rows), kept);
    v[i] = _mm512_permutexvar_epi8(by_field, fields);
  }
  transpose(v);
  for (int i = 0; i < count; ++i) _mm512_store_si512(lut6_groups[i], v[i]);
}

/// Puts four rows of the 16 from `first` on into each of the block's four registers, so that
/// thresholds packed to bytes come out in order.
HWY_ATTR HWY_INLINE void store_packable(__m512 rows, int first, float* block) {
  float* fours = block + first / 4;
  _mm_store_ps(fours, _mm512_castps512_ps128(rows));
  _mm_store_ps(fours + 16, _mm512_extractf32x4_ps(rows, 1));
  _mm_store_ps(fours + 32, _mm512_extractf32x4_ps(rows, 2));
  _mm_store_ps(fours + 48, _mm512_extractf32x4_ps(rows, 3));
}

HWY_ATTR void lay_out(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                      SharedSketches* sketches) {
  const BlockLayout& layout = codec.layout();
  const bool l2 = codec.metric() == Metric::l2;
  const int sketch_words = layout.sketch_words();
  const __m512i first_shifts = _mm512_set1_epi64(0x2A241E18120C0600);  // 0, 6, … 42
  const __m512i last_shifts = _mm512_set1_epi64(0x00000000003C3630);   // 48, 54, 60
  // The last group has four coordinates; after these, fields begin again with a word's first.
  const __m512i last_kept = _mm512_set1_epi64(0x00000000000F3F3F);
  sketches->blocks = end_block - first_block;
  __m512 most_inverse = _mm512_setzero_ps();
  __m512 most_ratio = most_inverse;
  for (int i = 0; i < sketches->blocks; ++i) {
    const uint8_t* sketch = tile.sketch[first_block + i];
    const int capacity = tile.capacity[first_block + i];
    const auto* words = reinterpret_cast<const uint64_t*>(sketch);
    const size_t group_words = static_cast<size_t>(sketch_words) * kGroupRows;
    for (int word = 0; word < sketch_words; ++word) {
      const uint64_t* sketch_word = words + static_cast<size_t>(word) * kGroupRows;
      uint8_t(*lut6_groups)[kBlockRows] =
          lut6_groups_of(sketches->planes, i) + word * kLut6GroupsPerWord;
      lay_out_word(sketch_word, group_words, capacity, first_shifts, _mm512_set1_epi8(63), 8,
                   lut6_groups);
      lay_out_word(sketch_word, group_words, capacity, last_shifts, last_kept,
                   kLut6GroupsPerWord - 8, lut6_groups + 8);
    }
    alignas(64) float scales[kBlockRows] = {};
    alignas(64) float biases[kBlockRows] = {};
    widen_factors(codec.factor_format(), sketch + layout.factors_offset(capacity), capacity, scales,
                  biases);
    sketches->allowed[i] = tile.allowed[first_block + i];
    sketches->without_threshold[i] = 0;
    for (int first = 0; first < kBlockRows; first += 16) {
      // A place without a row belongs to no allowed row: it may have any value that is a number.
      const __m512 scale = _mm512_load_ps(scales + first);
      const __m512 bias = _mm512_load_ps(biases + first);
      const __m512 norm = l2 ? bias : scale;
      const __m512 constant = l2 ? _mm512_mul_ps(norm, norm) : bias;
      const __m512 most_constant = _mm512_mul_ps(_mm512_set1_ps(SharedSketches::kMostRatio), norm);
      const __mmask16 has_threshold = _mm512_mask_cmp_ps_mask(
          _mm512_cmp_ps_mask(norm, _mm512_set1_ps(SharedSketches::kLeastNorm), _CMP_GE_OQ),
          _mm512_abs_ps(constant), most_constant, _CMP_LE_OQ);
      const __m512 inverse = _mm512_maskz_div_ps(has_threshold, _mm512_set1_ps(1), norm);
      const __m512 ratio = _mm512_maskz_mul_ps(has_threshold, constant, inverse);
      sketches->without_threshold[i] |= uint64_t{static_cast<uint16_t>(~has_threshold)} << first;
      most_inverse = _mm512_max_ps(most_inverse, inverse);
      most_ratio = _mm512_max_ps(most_ratio, _mm512_abs_ps(ratio));
      store_packable(inverse, first, sketches->inverse_norms[i]);
      store_packable(ratio, first, sketches->ratios[i]);
    }
  }
  sketches->most_inverse = _mm512_reduce_max_ps(most_inverse);
  sketches->most_ratio = _mm512_reduce_max_ps(most_ratio);
  shorten(sketches);
}

/// Writes the rows of `mask`, of 64 from `first` on, and returns how many they are.
HWY_ATTR HWY_INLINE int write_rows(uint64_t mask, int first, uint16_t* rows) {
  alignas(64) static constexpr uint8_t kRows[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i found = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(kRows));
  const __m512i from = _mm512_set1_epi16(static_cast<int16_t>(first));
  const int count = std::popcount(mask);
  // Stores of 64 bytes would nearly always touch two cache lines.
  constexpr int kUsually = 8;
  if (HWY_LIKELY(count <= kUsually)) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rows),
                     _mm_add_epi16(_mm_cvtepu8_epi16(_mm512_castsi512_si128(found)),
                                   _mm512_castsi512_si128(from)));
    return count;
  }
  const auto widened = [&](__m256i half)
                           HWY_ATTR { return _mm512_add_epi16(_mm512_cvtepu8_epi16(half), from); };
  _mm512_storeu_si512(rows, widened(_mm512_castsi512_si256(found)));
  _mm512_storeu_si512(rows + 32, widened(_mm512_extracti64x4_epi64(found, 1)));
  return count;
}

HWY_INLINE int64_t distances_of_three(const uint8_t* parts, int i) {
  uint16_t three;
  std::memcpy(&three, parts + i * sizeof three, sizeof three);
  return kDistances.distances[three];
}

/// Makes a query's tables: for each of the 64 patterns of six signs of a row, its distance.
template <int kWords, bool kThirdBit>
HWY_ATTR HWY_INLINE void make_tables(const SketchQuery& query, uint8_t (*tables)[64]) {
  const __m512i high_three = _mm512_set_epi64(
      0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
      0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
#pragma GCC unroll 4
  for (int i = 0; i < kWords * kLut6GroupsPerWord; ++i) {
    int64_t low_distances = distances_of_three(query.parts, 2 * i);
    int64_t high_distances = distances_of_three(query.parts, 2 * i + 1);
    if (kThirdBit && i < kLut6GroupsPerWord) {
      low_distances += 4 * distances_of_three(query.third_parts, 2 * i);
      high_distances += 4 * distances_of_three(query.third_parts, 2 * i + 1);
    }
    const __m512i low = _mm512_set1_epi64(low_distances);
    const __m512i high = _mm512_set1_epi64(high_distances);
    _mm512_store_si512(tables[i], _mm512_add_epi8(low, _mm512_shuffle_epi8(high, high_three)));
  }
}

/// Tables of some queries, and the sums that rows of two blocks find in them.
template <int kQueries>
struct Lookups {
  static constexpr int kBlocks = 2;
  static_assert(SharedSketches::kMostBlocks % kBlocks == 0);
  using Distances = __m512i[kQueries][kBlocks];

  alignas(64) uint8_t tables[kQueries][kMaxSketchWords * kLut6GroupsPerWord][64];

  /// Adds the distances of LUT groups begin … end−1, for blocks first and first + 1.
  HWY_ATTR HWY_INLINE void look_up(const SharedSketches& sketches, int first, int begin, int end,
                                   Distances& distances) const {
#pragma GCC unroll 4
    for (int at = begin; at < end; ++at) {
      __m512i query_tables[kQueries];
#pragma GCC unroll 4
      for (int q = 0; q < kQueries; ++q) query_tables[q] = _mm512_load_si512(tables[q][at]);
#pragma GCC unroll 2
      for (int i = 0; i < kBlocks; ++i) {
        const __m512i lut6_groups =
            _mm512_load_si512(lut6_groups_of(sketches.planes, first + i)[at]);
#pragma GCC unroll 4
        for (int q = 0; q < kQueries; ++q)
          distances[q][i] = _mm512_add_epi8(distances[q][i],
                                            _mm512_permutexvar_epi8(lut6_groups, query_tables[q]));
      }
    }
  }
};

// 64 rows by a query are 44 permutations and additions. Four queries with two blocks at a time need
// three loads for four of them; one query with four blocks five loads for four. Saturating
// additions run on fewer ports, so they come between sums of a few words only, and thresholds have
// 16 bits (docs/dev/tuning.md, "Kernels").
template <int kWords, bool kThirdBit, int kQueries>
HWY_ATTR void select_by_sketches(const SharedSketches& sketches,
                                 const SketchSelection* selections) {
  using Distances = typename Lookups<kQueries>::Distances;
  constexpr int kBlocks = Lookups<kQueries>::kBlocks;
  Lookups<kQueries> lookups;
  SketchThresholds thresholds[kQueries];
  uint16_t* rows[kQueries];
  for (int q = 0; q < kQueries; ++q) {
    make_tables<kWords, kThirdBit>(*selections[q].query, lookups.tables[q]);
    thresholds[q] = SketchThresholds(selections[q], sketches);
    rows[q] = selections[q].candidates->rows;
  }
  for (int first = 0; first < sketches.blocks; first += kBlocks) {
    // A distance beyond a byte counts as 255.
    Distances distances = {};
#pragma GCC unroll 4
    for (int sum = 0; first_word_of_sum(sum, kThirdBit) < kWords; ++sum) {
      Distances some = {};
      const int end_word = std::min(first_word_of_sum(sum + 1, kThirdBit), kWords);
      lookups.look_up(sketches, first, first_word_of_sum(sum, kThirdBit) * kLut6GroupsPerWord,
                      end_word * kLut6GroupsPerWord, some);
#pragma GCC unroll 4
      for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 2
        for (int i = 0; i < kBlocks; ++i)
          distances[q][i] = _mm512_adds_epu8(distances[q][i], some[q][i]);
    }
#pragma GCC unroll 4
    for (int q = 0; q < kQueries; ++q) {
#pragma GCC unroll 2
      for (int i = 0; i < kBlocks; ++i) {
        const int block = first + i;
        if (block >= sketches.blocks) break;
        const uint64_t reached =
            _mm512_cmple_epu8_mask(distances[q][i], thresholds[q].at(sketches, block, 0).raw);
        rows[q] +=
            write_rows((reached | sketches.without_threshold[block]) & sketches.allowed[block],
                       block * kBlockRows, rows[q]);
      }
    }
  }
  for (int q = 0; q < kQueries; ++q)
    selections[q].candidates->count = static_cast<int>(rows[q] - selections[q].candidates->rows);
}

template <int kWords, bool kThirdBit>
HWY_ATTR void select_each(const SharedSketches& sketches, const SketchSelection* selections,
                          int count) {
  int i = 0;
  for (; i + 4 <= count; i += 4) select_by_sketches<kWords, kThirdBit, 4>(sketches, selections + i);
  for (; i < count; ++i) select_by_sketches<kWords, kThirdBit, 1>(sketches, selections + i);
}
template <bool kThirdBit>
HWY_ATTR void select_by_words(int words, const SharedSketches& sketches,
                              const SketchSelection* selections, int count) {
  switch (words) {
    case 1:
      return select_each<1, kThirdBit>(sketches, selections, count);
    case 2:
      return select_each<2, kThirdBit>(sketches, selections, count);
    case 3:
      return select_each<3, kThirdBit>(sketches, selections, count);
    default:
      return select_each<4, kThirdBit>(sketches, selections, count);
  }
}
HWY_ATTR void selection(const ScanCodec& codec, const SharedSketches& sketches,
                        const SketchSelection* selections, int count) {
  const int words = codec.layout().sketch_words();
  if (codec.has_third_bit()) return select_by_words<true>(words, sketches, selections, count);
  select_by_words<false>(words, sketches, selections, count);
}
static_assert(kMaxSketchWords == 4);

/// Each three coordinates in two bytes, in the order of ThreeDistances. A LUT group's distances are
/// sums of those of its two threes.
inline constexpr size_t kPartsOfWord = size_t{2} * sizeof(uint16_t) * kLut6GroupsPerWord;
inline void set_parts(uint64_t signs, uint64_t ones, uint64_t twos, uint8_t* parts) {
  uint16_t threes[2 * kLut6GroupsPerWord];
  static_assert(sizeof threes == kPartsOfWord);
  for (uint16_t& three : threes) {
    three = static_cast<uint16_t>((signs & 7) | (ones & 7) << 3 | (twos & 7) << 6);
    signs >>= 3;
    ones >>= 3;
    twos >>= 3;
  }
  std::memcpy(parts, threes, sizeof threes);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
