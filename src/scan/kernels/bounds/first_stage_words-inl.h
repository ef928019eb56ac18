// SPDX-License-Identifier: MIT
// Distances of rows from a query by the sign words of split stages' first one, for x86 targets from
// AVX2 on.
#if defined(POLARQUANT_FIRST_STAGE_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_FIRST_STAGE_WORDS_INL_H_
#undef POLARQUANT_FIRST_STAGE_WORDS_INL_H_
#else
#define POLARQUANT_FIRST_STAGE_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "src/scan/kernels/decode/row_parts-inl.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_query.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// The distance by the first `words` words of a row's sketch.
HWY_ATTR HWY_INLINE int32_t words_distance(const ScanQuery& query, const uint64_t* sketch_words,
                                           int words) {
  int32_t distance = 0;
  for (size_t word = 0; word < static_cast<size_t>(words); ++word) {
    const uint64_t differ = query.sign_words[word] ^ sketch_words[word * kGroupRows];
    distance += word_distance(query, word, differ);
  }
  return distance;
}

#if POLAR_SIMD_VPOPCNT

/// words_distance of up to kFetchAhead rows, eight at a time. The rows' words are copied one by one
/// first; since they are loaded as registers much later, these loads do not wait for the copies.
class FirstStageWords {
 public:
  HWY_ATTR HWY_INLINE FirstStageWords(const RowParts* at, int count, int words)
      : count_(count), words_(static_cast<size_t>(words)) {
    for (size_t word = 0; word < words_; ++word)
      for (int i = 0; i < count; ++i) row_words_[word][i] = at[i].words[word * kGroupRows];
  }

  /// distances: space for a multiple of 8.
  HWY_ATTR HWY_INLINE void distances(const ScanQuery& query, int32_t* distances) const {
    for (int i = 0; i < count_; i += kTogether) {
      __m512i sum = _mm512_setzero_si512();
      for (size_t word = 0; word < words_; ++word) {
        const __m512i differ = _mm512_xor_si512(_mm512_load_si512(row_words_[word] + i),
                                                in_all_lanes(query.sign_words[word]));
        sum = _mm512_add_epi64(sum, count(differ, query.ones_words[word]));
        __m512i upper = count(differ, query.twos_words[word]);
        if (word == 0) {
          const __m512i fours = count(differ, query.fours_word);
          upper = _mm512_add_epi64(upper, _mm512_add_epi64(fours, fours));
        }
        sum = _mm512_add_epi64(sum, _mm512_add_epi64(upper, upper));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(distances + i), _mm512_cvtepi64_epi32(sum));
    }
  }

 private:
  static constexpr int kTogether = 8;
  static_assert(kFetchAhead % kTogether == 0);

  static HWY_ATTR HWY_INLINE __m512i in_all_lanes(uint64_t word) {
    return _mm512_set1_epi64(static_cast<int64_t>(word));
  }
  static HWY_ATTR HWY_INLINE __m512i count(__m512i differ, uint64_t weights) {
    return _mm512_popcnt_epi64(_mm512_and_si512(differ, in_all_lanes(weights)));
  }

  int count_;
  size_t words_;
  alignas(64) uint64_t row_words_[kMaxSketchWords][kFetchAhead];
};

#elif POLAR_SIMD_AVX2

class FirstStageWords {
 public:
  HWY_INLINE FirstStageWords(const RowParts* at, int count, int words)
      : at_(at), count_(count), words_(words) {}

  HWY_ATTR HWY_INLINE void distances(const ScanQuery& query, int32_t* distances) const {
    for (int i = 0; i < count_; ++i) distances[i] = words_distance(query, at_[i].words, words_);
  }

 private:
  const RowParts* at_;
  int count_;
  int words_;
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
