// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sign_dots.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "src/scan/kernels/sign_survivors.h"
#include "src/scan/kernels/survivor_dots.h"
#include "src/scan/row_levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sign_dots.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/bounds_of_four-inl.h"
#include "src/scan/kernels/four_rows-inl.h"
#include "src/scan/kernels/negative_levels-inl.h"
#include "src/scan/kernels/row_dots-inl.h"
#include "src/scan/kernels/row_parts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Σ of the levels from first_level_word() to end_level_word() whose sign bit is 1.
HWY_ATTR int32_t negative_levels(const ScanCodec& codec, const RowPlace& at,
                                 const ScanQuery& query) {
  const int first = codec.first_level_word();
  const int8_t* levels = query.levels.data() + static_cast<size_t>(first) * kSegmentLanes;
  return negative_levels(levels, codec.level_words(), [&](int word) HWY_ATTR {
    return codec.layout().sign_word(at, first + word);
  });
}

#if HWY_TARGET != HWY_AVX3_DL

/// The dots of first_stage_bound of all rows, into out.first_dots: decoding them is the larger
/// part.
HWY_ATTR void dot_first_stage(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                              const uint32_t* survivors, int count, const KeptRows& out) {
  const LevelStage& stage = codec.stages()[0];
  for (int i = 0; i < count; ++i) out.rows[i] = row_of(survivors[i]);
  AlignedVector<int8_t> levels(static_cast<size_t>(stage.lanes()));
  survivor_dots(tile, codec, stage, query, out.rows, count, levels.data(), out.first_dots);
}

#endif

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// Rows that are looked at together: what the next ones are is fetched before.
constexpr int kTogether = kFetchAhead;
static_assert(kTogether % 4 == 0);

HWY_INLINE const RowParts (&four_of(const RowParts* at))[4] {
  return *reinterpret_cast<const RowParts(*)[4]>(at);
}

/// The first sum of sign_bound.
struct FrontSums {
  int32_t front_weight;

  HWY_ATTR explicit FrontSums(const ScanQuery& query) : front_weight(query.front_weight) {}
  HWY_ATTR HWY_INLINE void of(const RowParts* /*at*/, int /*first*/, const uint32_t* survivors,
                              int count, int32_t* sums) const {
    for (int i = 0; i < count; ++i) sums[i] = front_weight - 2 * distance_of(survivors[i]);
  }
};

#if HWY_TARGET == HWY_AVX3_DL

/// That of first_stage_bound, four rows at a time.
struct FirstStageDots {
  RowDots dots;

  HWY_ATTR FirstStageDots(const ScanCodec& codec, const ScanQuery& query,
                          const int32_t* /*first_dots*/)
      : dots(codec.layout(), codec.stages()[0], query) {}
  // A function of its own, as is the next one, so that what it works on stays in registers.
  HWY_ATTR HWY_NOINLINE void of(const RowParts* at, int /*first*/, const uint32_t* /*survivors*/,
                                int count, int32_t* sums) const {
    for (int i = 0; i < count; i += 4)
      _mm_store_si128(reinterpret_cast<__m128i*>(sums + i), dots.four(four_of(at + i)));
  }
};

#else

/// That of first_stage_bound, as dot_first_stage has left it.
struct FirstStageDots {
  const int32_t* first_dots;

  HWY_ATTR FirstStageDots(const ScanCodec& /*codec*/, const ScanQuery& /*query*/,
                          const int32_t* dots)
      : first_dots(dots) {}
  HWY_ATTR HWY_INLINE void of(const RowParts* /*at*/, int first, const uint32_t* /*survivors*/,
                              int count, int32_t* sums) const {
    std::copy_n(first_dots + first, count, sums);
  }
};

#endif

/// Of rows, four by four, Σ level·(±1) over the words from first_level_word() on. It is Σ levels −
/// 2·Σ of the levels whose sign bit is 1. Four rows share loads and the sum over lanes.
HWY_ATTR HWY_NOINLINE void sign_level_dots(const ScanCodec& codec, const ScanQuery& query,
                                           const RowParts* at, int count, int32_t* dots) {
  const BlockLayout& layout = codec.layout();
  const int first_word = codec.first_level_word();
  const int words = codec.end_level_word();
  const __m128i all = _mm_set1_epi32(query.sign_level_sum);
  for (int i = 0; i < count; i += 4) {
    DotSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
    for (int word = first_word; word < words; ++word) {
      const NegativeLevels levels(query.levels.data() + static_cast<size_t>(word) * kSegmentLanes);
      const WordOfRows signs(layout, word);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) sums[j] = levels.add(sums[j], signs.of(at[i + j]));
    }
    const __m128i negative = sum_each(sums[0], sums[1], sums[2], sums[3]);
    _mm_store_si128(reinterpret_cast<__m128i*>(dots + i),
                    _mm_sub_epi32(all, _mm_add_epi32(negative, negative)));
  }
}

template <class Sums>
HWY_ATTR int keep_fours(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                        const SumBound& bound, const Sums& first_sums, float threshold,
                        uint32_t* survivors, int count, const KeptRows& out) {
  const __m128 least = _mm_set1_ps(threshold);
  BoundsOfFour four(codec, query.score, bound);
  const int last = count;
  while (count % 4 != 0) survivors[count++] = survivors[last - 1];
  RowParts parts[2][kTogether];  // of the rows at hand and of those to come
  const auto fetch_rows = [&](int first, RowParts* found) HWY_ATTR {
    for (int i = first; i < std::min(count, first + kTogether); ++i) {
      const RowPlace place = place_of(tile, row_of(survivors[i]));
      *found++ = RowParts(codec.layout(), place);
      fetch_signs(codec, place);
    }
  };
  int kept = 0;
  fetch_rows(0, parts[0]);
  for (int first = 0; first < count; first += kTogether) {
    const RowParts* at = parts[first / kTogether % 2];
    fetch_rows(first + kTogether, parts[(first / kTogether + 1) % 2]);
    const int some = std::min(count - first, kTogether);
    alignas(16) int32_t firsts[kTogether];
    alignas(16) int32_t level_dots[kTogether];
    first_sums.of(at, first, survivors + first, some, firsts);
    sign_level_dots(codec, query, at, some, level_dots);
    for (int i = 0; i < some; i += 4) {
      four.load(four_of(at + i));
      const __m128 bounds =
          four.bound(_mm_load_si128(reinterpret_cast<const __m128i*>(firsts + i)),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(level_dots + i)));
      const auto reached = static_cast<unsigned>(_mm_movemask_ps(_mm_cmpge_ps(bounds, least)));
      ScanTerms terms[4];
      four.store(terms);
      // Without branches: which rows stay is not predictable.
      for (int j = 0; j < 4; ++j) {
        const uint32_t survivor = survivors[first + i + j];
        out.rows[kept] = row_of(survivor);
        out.sums[kept] = {distance_of(survivor), level_dots[i + j]};
        out.terms[kept] = terms[j];
        if constexpr (std::is_same_v<Sums, FirstStageDots>) out.first_dots[kept] = firsts[i + j];
        kept += static_cast<int>(reached >> j & 1);
      }
      // Places that only fill up the last four.
      if (first + i + 4 > last) kept -= std::popcount(reached >> (last - first - i));
    }
  }
  return kept;
}

HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, uint32_t* survivors, int count, const KeptRows& out) {
  return keep_fours(codec, tile, query, query.signs, FrontSums(query), threshold, survivors, count,
                    out);
}
// Where levels do not stay in registers the rows' dots come first, of all of them: keep_fours reads
// them before it writes what is kept in their place.
HWY_ATTR int keep_split_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                             float threshold, uint32_t* survivors, int count, const KeptRows& out) {
#if HWY_TARGET != HWY_AVX3_DL
  dot_first_stage(codec, tile, query, survivors, count, out);
#endif
  return keep_fours(codec, tile, query, query.first_stage,
                    FirstStageDots(codec, query, out.first_dots), threshold, survivors, count, out);
}

HWY_ATTR void bound_singles(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                            float* bounds) {
  BoundsOfFour four(codec, query.score, query.signs);
  const int last = count;
  while (count % 4 != 0) at[count++] = at[last - 1];
  for (int first = 0; first < count; first += kTogether) {
    const int some = std::min(count - first, kTogether);
    RowParts rows[kTogether];
    for (int i = 0; i < some; ++i) rows[i] = RowParts(codec.layout(), at[first + i]);
    alignas(16) int32_t level_dots[kTogether];
    sign_level_dots(codec, query, rows, some, level_dots);
    for (int i = 0; i < some; i += 4) {
      four.load(four_of(rows + i));
      const __m128i sums = _mm_load_si128(reinterpret_cast<const __m128i*>(level_dots + i));
      _mm_storeu_ps(bounds + first + i, four.bound(_mm_setzero_si128(), sums));
    }
  }
}

#else

HWY_ATTR void bound_singles(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                            float* bounds) {
  for (int i = 0; i < count; ++i) {
    const SignSums sums = {0, query.sign_level_sum - 2 * negative_levels(codec, at[i], query)};
    bounds[i] = sign_bound(query, load_terms(codec, at[i]), sums);
  }
}

/// `bound(i, kept)`: that of survivor i, whose terms and sums are those of place `kept`.
template <class Bound>
HWY_ATTR int keep_each(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       const Bound& bound, float threshold, const uint32_t* survivors, int count,
                       const KeptRows& out) {
  int kept = 0;
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_signs(codec, place_of(tile, row_of(survivors[i])));
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count)
      fetch_signs(codec, place_of(tile, row_of(survivors[i + kFetchAhead])));
    const uint32_t row = row_of(survivors[i]);
    const RowPlace at = place_of(tile, row);
    out.rows[kept] = row;
    out.terms[kept] = load_terms(codec, at);
    out.sums[kept] = {distance_of(survivors[i]),
                      query.sign_level_sum - 2 * negative_levels(codec, at, query)};
    kept += bound(i, kept) >= threshold ? 1 : 0;
  }
  return kept;
}

HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, uint32_t* survivors, int count, const KeptRows& out) {
  const auto bound = [&](int, int kept) {
    return sign_bound(query, out.terms[kept], out.sums[kept]);
  };
  return keep_each(codec, tile, query, bound, threshold, survivors, count, out);
}

HWY_ATTR int keep_split_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                             float threshold, uint32_t* survivors, int count, const KeptRows& out) {
  dot_first_stage(codec, tile, query, survivors, count, out);
  const auto bound = [&](int i, int kept) {
    out.first_dots[kept] = out.first_dots[i];
    return first_stage_bound(query, out.terms[kept], out.first_dots[kept], out.sums[kept]);
  };
  return keep_each(codec, tile, query, bound, threshold, survivors, count, out);
}

#endif

HWY_ATTR SignSums sums_of_row(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  const BlockLayout& layout = codec.layout();
  int32_t distance = 0;
  for (int word = 0; word < layout.front_words(); ++word) {
    const auto i = static_cast<size_t>(word);
    distance += word_distance(query, i, query.sign_words[i] ^ layout.sign_word(at, word));
  }
  return {distance, query.sign_level_sum - 2 * negative_levels(codec, at, query)};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(keep_rows);
HWY_EXPORT(keep_split_rows);
HWY_EXPORT(bound_singles);
HWY_EXPORT(sums_of_row);

int keep_by_signs(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                  float threshold, uint32_t* survivors, int count, const KeptRows& kept) {
  return HWY_DYNAMIC_DISPATCH(keep_rows)(codec, tile, query, threshold, survivors, count, kept);
}

int keep_by_first_stage(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                        float threshold, uint32_t* survivors, int count, const KeptRows& kept) {
  return HWY_DYNAMIC_DISPATCH(keep_split_rows)(codec, tile, query, threshold, survivors, count,
                                               kept);
}

void single_sign_bounds(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                        float* bounds) {
  HWY_DYNAMIC_DISPATCH(bound_singles)(codec, query, at, count, bounds);
}

SignSums sign_sums(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  return HWY_DYNAMIC_DISPATCH(sums_of_row)(codec, query, at);
}

}  // namespace polarquant
#endif
