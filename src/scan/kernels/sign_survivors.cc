// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sign_survivors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sign_survivors.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL

/// A search's line in registers.
struct Line {
  HWY_ATTR explicit Line(const SurvivorLine& line)
      : base(_mm512_set1_ps(line.base)),
        weight(_mm512_set1_ps(line.weight)),
        height(_mm512_set1_ps(line.height)),
        tilt(_mm512_set1_ps(line.tilt)),
        threshold(_mm512_set1_ps(line.threshold)) {}

  HWY_ATTR __mmask16 reached(__m512i distances, __m512 constant, __m512 norm) const {
    const __m512 curve = _mm512_fnmadd_ps(tilt, _mm512_cvtepi32_ps(distances), height);
    const __m512 bound = _mm512_fmadd_ps(norm, curve, _mm512_fmadd_ps(weight, constant, base));
    return _mm512_cmp_ps_mask(bound, threshold, _CMP_GE_OQ);
  }

  __m512 base, weight, height, tilt, threshold;
};

/// Appends the rows of a mask. Compressed in a register: the form that stores is slow on Zen 4.
HWY_ATTR inline void append_rows(__mmask16 reached, __m512i rows, SurvivorSearch* search) {
  _mm512_storeu_si512(search->survivors + search->count, _mm512_maskz_compress_epi32(reached, rows));
  search->count += __builtin_popcount(reached);
}

// 16 rows and kSearches queries at a time: two groups of 8 rows in 64-bit lanes, brought together as
// 32-bit lanes. Bound by the two ports that have 512-bit vectors: for 6 words and a query 12 each of
// xor and popcount, 10 additions and 10 for the line, so 22 cycles; two queries share the loads.
template <int kSearches, int kWords>
HWY_ATTR void survivors_of_words(const uint64_t* words, int room, int any_words, const float* constants,
                        const float* norms, uint32_t first, SurvivorSearch* searches) {
  const int sign_words = kWords > 0 ? kWords : any_words;
  const uint64_t* query_words0 = searches[0].query->sign_words.data();
  const uint64_t* query_words1 = searches[kSearches - 1].query->sign_words.data();
  const Line line0(searches[0].line);
  const Line line1(searches[kSearches - 1].line);
  const __m512i even_words = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const size_t group_words = static_cast<size_t>(sign_words) * kGroupRows;
  for (int row = 0; row < room; row += 2 * kGroupRows) {
    // A last group alone is paired with itself: the places behind it have no rows.
    const uint64_t* group0 = words + row / kGroupRows * group_words;
    const uint64_t* group1 = row + kGroupRows < room ? group0 + group_words : group0;
    __m512i h00 = _mm512_setzero_si512();
    __m512i h01 = h00;
    __m512i h10 = h00;
    __m512i h11 = h00;
#pragma GCC unroll 12
    for (int word = 0; word < sign_words; ++word) {
      const __m512i x0 = _mm512_load_si512(group0 + static_cast<size_t>(word) * kGroupRows);
      const __m512i x1 = _mm512_load_si512(group1 + static_cast<size_t>(word) * kGroupRows);
      const __m512i q0 = _mm512_set1_epi64(static_cast<int64_t>(query_words0[word]));
      h00 = _mm512_add_epi64(h00, _mm512_popcnt_epi64(_mm512_xor_si512(x0, q0)));
      h01 = _mm512_add_epi64(h01, _mm512_popcnt_epi64(_mm512_xor_si512(x1, q0)));
      if constexpr (kSearches == 2) {
        const __m512i q1 = _mm512_set1_epi64(static_cast<int64_t>(query_words1[word]));
        h10 = _mm512_add_epi64(h10, _mm512_popcnt_epi64(_mm512_xor_si512(x0, q1)));
        h11 = _mm512_add_epi64(h11, _mm512_popcnt_epi64(_mm512_xor_si512(x1, q1)));
      }
    }
    const __m512 constant = _mm512_load_ps(constants + row);
    const __m512 norm = _mm512_load_ps(norms + row);
    const __m512i rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first) + row));
    append_rows(line0.reached(_mm512_permutex2var_epi32(h00, even_words, h01), constant, norm), rows,
                &searches[0]);
    if constexpr (kSearches == 2) {
      append_rows(line1.reached(_mm512_permutex2var_epi32(h10, even_words, h11), constant, norm), rows,
                  &searches[1]);
    }
  }
}

template <int kSearches>
HWY_ATTR void survivors_of_block(const uint64_t* words, int room, int sign_words, const float* constants,
                        const float* norms, uint32_t first, SurvivorSearch* searches) {
  switch (sign_words) {
    case 6:
      return survivors_of_words<kSearches, 6>(words, room, sign_words, constants, norms, first, searches);
    case 12:
      return survivors_of_words<kSearches, 12>(words, room, sign_words, constants, norms, first, searches);
    default:
      return survivors_of_words<kSearches, 0>(words, room, sign_words, constants, norms, first, searches);
  }
}

#else

// Distances of a block first, as 32-bit integers, then bounds.
#if HWY_TARGET == HWY_SCALAR

void block_distances(const uint64_t* words, int room, int sign_words, const uint64_t* query_words,
                     uint32_t* distances) {
  for (int row = 0; row < room; ++row) {
    const uint64_t* row_words = words + row / kGroupRows * sign_words * kGroupRows + row % kGroupRows;
    distances[row] = 0;
    for (int word = 0; word < sign_words; ++word) {
      distances[row] += static_cast<uint32_t>(std::popcount(row_words[word * kGroupRows] ^ query_words[word]));
    }
  }
}

#else

// Bytes of counts are added up to 31 words (8 a byte and word) before they are summed.
HWY_ATTR void block_distances(const uint64_t* words, int room, int sign_words, const uint64_t* query_words,
                     uint32_t* distances) {
  const hn::CappedTag<uint64_t, kGroupRows> d64;
  const hn::Repartition<uint8_t, decltype(d64)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d64));
  constexpr int kWordsPerSum = 31;
  alignas(64) uint64_t sums[kGroupRows];
  for (int group = 0; group < room / kGroupRows; ++group, words += static_cast<size_t>(sign_words) * kGroupRows) {
    for (int part = 0; part < kGroupRows; part += lanes) {
      auto distance = hn::Zero(d64);
      for (int first = 0; first < sign_words; first += kWordsPerSum) {
        const int end = std::min(sign_words, first + kWordsPerSum);
        auto counts = hn::Zero(d8);
        for (int word = first; word < end; ++word) {
          const auto x = hn::Xor(hn::Set(d64, query_words[word]),
                                 hn::Load(d64, words + static_cast<size_t>(word) * kGroupRows + part));
          counts = hn::Add(counts, hn::PopulationCount(hn::BitCast(d8, x)));
        }
        distance = hn::Add(distance, hn::SumsOf8(counts));
      }
      hn::Store(distance, d64, sums + part);
    }
    for (int row = 0; row < kGroupRows; ++row) distances[group * kGroupRows + row] = static_cast<uint32_t>(sums[row]);
  }
}

#endif

HWY_ATTR void survivors_for_query(const uint64_t* words, int room, int sign_words, const float* constants,
                         const float* norms, uint32_t first, SurvivorSearch* search) {
  const SurvivorLine& line = search->line;
  alignas(64) uint32_t distances[kBlockRows + kGroupRows] = {};
  block_distances(words, room, sign_words, search->query->sign_words.data(), distances);
  const hn::CappedTag<float, 16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto base = hn::Set(df, line.base);
  const auto weight = hn::Set(df, line.weight);
  const auto height = hn::Set(df, line.height);
  const auto tilt = hn::Set(df, line.tilt);
  const auto threshold = hn::Set(df, line.threshold);
  for (int row = 0; row < room; row += lanes) {
    const auto distance = hn::ConvertTo(df, hn::BitCast(di, hn::Load(du, distances + row)));
    const auto curve = hn::NegMulAdd(tilt, distance, height);
    const auto offset = hn::MulAdd(weight, hn::Load(df, constants + row), base);
    const auto bound = hn::MulAdd(hn::Load(df, norms + row), curve, offset);
    const auto reached = hn::Ge(bound, threshold);
    if (hn::AllFalse(df, reached)) continue;
    const auto rows = hn::Iota(du, first + static_cast<uint32_t>(row));
    search->count += static_cast<int>(
        hn::CompressStore(rows, hn::RebindMask(du, reached), du, search->survivors + search->count));
  }
}

template <int kSearches>
HWY_ATTR void survivors_of_block(const uint64_t* words, int room, int sign_words, const float* constants,
                        const float* norms, uint32_t first, SurvivorSearch* searches) {
  for (int i = 0; i < kSearches; ++i) {
    survivors_for_query(words, room, sign_words, constants, norms, first, &searches[i]);
  }
}

#endif

HWY_ATTR void find_survivors(const ScanTile& tile, int sign_words, SurvivorSearch* searches, int count) {
  for (int block = 0; block < tile.blocks; ++block) {
    const auto* words = reinterpret_cast<const uint64_t*>(tile.block[block]);
    const int first = block * kBlockRows;
    int search = 0;
    for (; search + 2 <= count; search += 2) {
      survivors_of_block<2>(words, tile.room[block], sign_words, tile.constant + first, tile.norm + first,
                            static_cast<uint32_t>(first), searches + search);
    }
    if (search < count) {
      survivors_of_block<1>(words, tile.room[block], sign_words, tile.constant + first, tile.norm + first,
                            static_cast<uint32_t>(first), searches + search);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(find_survivors);

namespace {

/// Several times what the few roundings of a sum can add up to, as a share of its terms.
constexpr float kLineMargin = 1e-6F;

/// A row's terms as one row of each block shows them; rows that take no part (NaN) do not count.
ScanTerms typical_terms(const ScanTile& tile) {
  ScanTerms sum;
  int rows = 0;
  for (int block = 0; block < tile.blocks; ++block) {
    const int row = block * kBlockRows + block % kGroupRows;
    if (std::isnan(tile.constant[row])) continue;
    sum.constant += tile.constant[row];
    sum.norm += tile.norm[row];
    ++rows;
  }
  if (rows == 0) return sum;
  return {0, sum.constant / static_cast<float>(rows), sum.norm / static_cast<float>(rows)};
}

}  // namespace

SurvivorLine survivor_line(const ScanTile& tile, const ScanQuery& query, float threshold) {
  const HammingBound& bound = query.hamming;
  const ScanTerms typical = typical_terms(tile);
  // Where B(m)·norm = missing, by Newton's method from where the straight part would be. Any m from 0 to
  // the curve's peak gives a tangent above the curve.
  const float peak = bound.bend > 0 ? std::sqrt(bound.slope / (3 * bound.bend)) : 0;
  const float missing = threshold - (query.score.base + query.score.weight * typical.constant);
  float m = 0;
  if (typical.norm > 0 && bound.slope > 0 && std::isfinite(missing)) {
    const float wanted = missing / typical.norm;
    m = std::clamp(wanted / bound.slope, 0.0F, peak);
    for (int step = 0; step < 2; ++step) {
      const float rise = bound.slope - 3 * bound.bend * m * m;
      if (!(rise > 0)) break;
      m = std::clamp(m - (m * (bound.slope - bound.bend * m * m) - wanted) / rise, 0.0F, peak);
    }
  }
  SurvivorLine line;
  line.base = query.score.base;
  line.weight = query.score.weight;
  line.tilt = std::max(bound.slope - 3 * bound.bend * m * m, 0.0F);
  // B(m) + B'(m)·(reach − h − m), raised by more than floats can be off.
  line.height = m * (bound.slope - bound.bend * m * m) + line.tilt * (bound.reach - m);
  line.height += kLineMargin * (std::fabs(line.height) + 2 * bound.half * bound.slope);
  const float largest =
      std::fabs(line.base) + std::fabs(line.weight) * tile.largest_constant + std::fabs(threshold);
  line.threshold = std::isfinite(threshold) ? threshold - kLineMargin * largest
                                            : std::numeric_limits<float>::lowest();
  return line;
}

void find_sign_survivors(const ScanTile& tile, int sign_words, SurvivorSearch* searches, int count) {
  for (int i = 0; i < count; ++i) {
    searches[i].count = 0;
    searches[i].line = survivor_line(tile, *searches[i].query, searches[i].threshold);
  }
  HWY_DYNAMIC_DISPATCH(find_survivors)(tile, sign_words, searches, count);
}

}  // namespace polarquant
#endif
